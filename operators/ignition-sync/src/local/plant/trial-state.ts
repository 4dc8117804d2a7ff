import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** TrialState is what a trial keeps for the next start on the same data: credentials and ports that objects in the cluster contain. */
export interface TrialState {
  readonly token: string;
  readonly hmac: string;
  readonly apiKey: string;
  /** The port of the Git server. */
  readonly gitPort: number;
  /** The port of the receiver. */
  readonly receiverPort: number;
}

/** openState reads the state of an earlier trial from a folder, or creates one. A port that is in use is replaced. */
export async function openState(folder: string): Promise<TrialState> {
  const file = join(folder, 'state.json');
  const stored = await readState(file);
  const secret = (): string => randomBytes(24).toString('base64url');
  const state: TrialState = {
    token: stored.token ?? secret(),
    hmac: stored.hmac ?? secret(),
    apiKey: stored.apiKey ?? `ignition-sync:${secret()}`,
    gitPort: await freePort(stored.gitPort),
    receiverPort: await freePort(stored.receiverPort),
  };
  await writeFile(file, JSON.stringify(state), { mode: 0o600 });
  return state;
}

async function readState(file: string): Promise<Partial<TrialState>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Partial<TrialState>;
  } catch {
    // The first trial, or one that was killed while it wrote.
    return {};
  }
}

/** freePort returns a port of 127.0.0.1 that no process listens on: the preferred one, if it is free. */
export async function freePort(preferred = 0): Promise<number> {
  const probe = createServer();
  const listen = (port: number): Promise<number | undefined> =>
    new Promise((resolve) => {
      probe.once('error', () => resolve(undefined));
      probe.listen(port, '127.0.0.1', () => {
        const address = probe.address();
        probe.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
      });
    });
  return (await listen(preferred)) ?? (preferred === 0 ? 0 : await freePort());
}
