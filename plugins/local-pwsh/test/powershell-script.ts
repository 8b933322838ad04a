import { type Step, UnsupportedStep } from '@tenon/shell/conformance'

/** A PowerShell text that does the steps; what it cannot do, such as trapping TERM, it says. */
export function powershellScript(steps: readonly Step[]): string {
  return steps.map(lineOf).join('\n')
}

export function longPowershellScript(length: number, text: string, code: number): string {
  return `#${'x'.repeat(length)}\n${powershellScript([
    { do: 'print', text },
    { do: 'exit', code },
  ])}`
}

function lineOf(step: Step): string {
  switch (step.do) {
    case 'print':
      return write(quoted(step.text), step.to)
    case 'write':
      return `$o=[Console]::OpenStandardOutput();$o.Write([byte[]](${step.bytes.join(',')}),0,${step.bytes.length});$o.Flush()`
    case 'count':
      return write(`(((1..${step.upTo}) -join [string][char]10) + [char]10)`, step.to)
    case 'env':
      return write(`$(if (Test-Path env:${step.name}) { $env:${step.name} } else { '<unset>' })`)
    case 'cwd':
      return write('(Get-Location).ProviderPath')
    case 'cat':
      return '[Console]::OpenStandardInput().CopyTo([Console]::OpenStandardOutput())'
    case 'touch':
      return `[IO.File]::WriteAllText(${quoted(step.file)}, '')`
    case 'sleep':
      return `Start-Sleep -Milliseconds ${step.ms}`
    case 'linger':
      return 'while ($true) { Start-Sleep 60 }'
    case 'die':
      return `& /bin/kill -${step.signal.slice(3)} $PID; Start-Sleep 60`
    case 'exit':
      return `exit ${step.code}`
    case 'leave':
    case 'onTerm':
    case 'closeStdin':
      throw new UnsupportedStep('PowerShell', step.do)
  }
}

function write(expression: string, to: 'stdout' | 'stderr' = 'stdout'): string {
  const stream = to === 'stdout' ? 'Out' : 'Error'
  return `[Console]::${stream}.Write(${expression});[Console]::${stream}.Flush()`
}

function quoted(text: string): string {
  return `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`
}
