import type { Clock } from '@bowline/machinery';

/** PluginRun configures one run of a credential plugin. */
export interface PluginRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether it may use the terminal. */
  readonly interactive: boolean;
  readonly wire: Clock;
}

/**
 * Plugins that contact an identity provider take seconds; one that waits for user input is interactive and may take
 * longer.
 */
const TIMEOUT_MS = 60_000;
const INTERACTIVE_TIMEOUT_MS = 600_000;
/** A certificate with its chain and key is a few kB. */
const MAX_OUTPUT_BYTES = 2 ** 20;
/** The maximum length of its error output in messages. */
const MAX_ERROR_CHARS = 300;

/** runPlugin runs a plugin and returns its output. It rejects with a plain error that is safe to display. */
export async function runPlugin(run: PluginRun): Promise<string> {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn(run.command, run.args, {
      env: run.env,
      stdio: [run.interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let problem: Error | undefined;
    const stop = (message: string): void => {
      problem ??= new Error(message);
      child.kill('SIGKILL');
    };
    const timeoutMs = run.interactive ? INTERACTIVE_TIMEOUT_MS : TIMEOUT_MS;
    const timer = run.wire.setTimer(timeoutMs, () => stop(`it did not exit within ${timeoutMs / 1000} s`));
    const output: Buffer[] = [];
    let size = 0;
    let errorOutput = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) stop(`it printed more than ${MAX_OUTPUT_BYTES} bytes`);
      else output.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (run.interactive) process.stderr.write(chunk);
      errorOutput = (errorOutput + chunk.toString('utf8')).slice(-4 * MAX_ERROR_CHARS);
    });
    child.on('error', (error) => {
      problem ??= Object.assign(new Error(`it cannot be started (${codeOf(error)})`), { code: codeOf(error) });
    });
    child.on('close', (code, signal) => {
      timer.cancel();
      if (!problem && code !== 0) {
        const printed = redact(errorOutput);
        problem = new Error(
          `it exited with ${signal ?? `code ${code}`}${printed === '' ? '' : ` and printed: ${printed}`}`,
        );
      }
      if (problem) reject(problem);
      else resolve(Buffer.concat(output, size).toString('utf8'));
    });
  });
}

/** redact shortens error output and hides what could be a token: long runs of characters that do not occur in words. */
function redact(text: string): string {
  return text
    .trim()
    .replace(/[A-Za-z0-9+/_.=~-]{24,}/g, '***')
    .replace(/\s+/g, ' ')
    .slice(-MAX_ERROR_CHARS);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
