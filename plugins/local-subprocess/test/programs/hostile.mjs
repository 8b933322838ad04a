// Ten trees that nobody gets rid of with one TERM, as shell scripts. Each prints a line once it is as bad as it gets.
const stubborn = 'trap "" TERM HUP; echo ready; while :; do sleep 0.05; done'
const sleeper = 'trap "" TERM HUP; echo ready; exec sleep 600'

export const hostile = [
  // In the group, and out of it.
  stubborn,
  `setsid sh -c '${stubborn}' & wait`,
  // Stopped, in the group and out of it.
  '(sleep 0.1; echo ready) & kill -STOP $$',
  `setsid sh -c 'echo ready; kill -STOP $$' & wait`,
  // Left by a leader that is gone: in the group, out of it, and by way of two forks.
  `sh -c '${sleeper}' &`,
  `setsid sh -c '${sleeper} >/dev/null 2>&1' &`,
  `(setsid nohup sh -c '(trap "" TERM; echo ready; exec sleep 600) &' &)`,
  // Floods.
  'trap "" TERM; echo ready; exec yes',
  'trap "" TERM; echo ready; while :; do head -c 65536 /dev/zero >&2; done',
  // Answers TERM with more of itself.
  'trap "sh -c \'trap \\"\\" TERM; exec sleep 600\' & sleep 600 &" TERM; echo ready; while :; do sleep 0.05; done',
]
