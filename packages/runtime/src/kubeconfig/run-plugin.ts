import type { Clock } from '@bowline/machinery';

/** PluginRun is one run of a credential plugin. */
export interface PluginRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether it may use the terminal. */
  readonly interactive: boolean;
  readonly wire: Clock;
}

/** Plugins that talk to an identity provider take seconds; one that waits for a person is interactive and may take longer. */
const TIMEOUT_MS = 60_000;
const INTERACTIVE_TIMEOUT_MS = 600_000;
/** A certificate with its chain and key is a few kB. */
const MAX_OUTPUT_BYTES = 2 ** 20;
/** What is kept of its complaints. */
const MAX_COMPLAINT = 300;

/** runPlugin runs a plugin and answers what it printed. It rejects with a plain error that is safe to show. */
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
    const timer = run.wire.setTimer(timeoutMs, () => stop(`it did not end within ${timeoutMs / 1000} s`));
    const output: Buffer[] = [];
    let size = 0;
    let complaint = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) stop(`it printed more than ${MAX_OUTPUT_BYTES} bytes`);
      else output.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (run.interactive) process.stderr.write(chunk);
      complaint = (complaint + chunk.toString('utf8')).slice(-4 * MAX_COMPLAINT);
    });
    child.on('error', (error) => {
      problem ??= Object.assign(new Error(`it cannot be started (${codeOf(error)})`), { code: codeOf(error) });
    });
    child.on('close', (code, signal) => {
      timer.cancel();
      if (!problem && code !== 0) {
        const said = redact(complaint);
        problem = new Error(`it ended with ${signal ?? `code ${code}`}${said === '' ? '' : ` and said: ${said}`}`);
      }
      if (problem) reject(problem);
      else resolve(Buffer.concat(output, size).toString('utf8'));
    });
  });
}

/** redact shortens a complaint and hides what could be a token: long runs of characters that no word has. */
function redact(text: string): string {
  return text
    .trim()
    .replace(/[A-Za-z0-9+/_.=~-]{24,}/g, '***')
    .replace(/\s+/g, ' ')
    .slice(-MAX_COMPLAINT);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
