// An otherwise empty program that imports what the default composition and the command line import.
await Promise.all([
  import('@tenon/cli'),
  import('@tenon/runtime'),
  import('@tenon/session'),
  import('@tenon/tools'),
  import('@tenon/plugin-local-subprocess'),
  import('@tenon/plugin-local-bash'),
  import('@tenon/plugin-shell-env'),
  import('@tenon/plugin-tools'),
  import('@tenon/plugin-system-prompt'),
  import('@tenon/plugin-tool-bash'),
  import('@tenon/jobs'),
  import('@tenon/plugin-jobs'),
  import('@tenon/plugin-tool-jobs'),
])
