// A manager in a separate process, for the election proof. Its one operator writes as fast as possible, even after it has lost
// its Lease: only the guard has to stop it.
import { ConfigMap } from '@bowline/kubernetes';
import { allow, BowlineError, defineOperator, runUntilSignal } from '@bowline/runtime';
import { type Client, connect, createClient, type Transport, type TransportRequest } from '@bowline/runtime/client';
import { createLog, Manager } from '@bowline/runtime/manager';
import { type JournalEntry, machineTime, openJournal } from './journal.ts';

/** ReplicaSettings is what the proof passes to a replica. */
export interface ReplicaSettings {
  readonly name: string;
  readonly server: string;
  readonly ca: string;
  readonly namespace: string;
  readonly journal: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** ToReplica is a message from the proof to a replica. */
export type ToReplica =
  /** Block the event loop. */
  | { readonly type: 'stall'; readonly ms: number }
  /** Stop trying to write. */
  | { readonly type: 'enough' };

/** FromReplica is a message from a replica to the proof. */
export type FromReplica =
  | { readonly type: 'leading' }
  | { readonly type: 'ended'; readonly reason: string; readonly refused: number };

const WRITERS = 3;
const PAUSE_MS = 15;
/** A previous leader keeps trying until it was refused this often, whatever it is told. */
const MIN_REFUSED = 30;

const settings = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings;
const journal = openJournal(settings.journal);
const enough = new AbortController();
let refused = 0;

process.on('message', (message: ToReplica) => {
  if (message.type === 'enough') enough.abort();
  // Blocks this thread, and with it the whole process.
  else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, message.ms);
});
// The proof has exited: there is nothing left to do.
process.on('disconnect', () => process.exit(1));

function sendToProof(message: FromReplica): void {
  // The proof may exit at any time; 'disconnect' then ends this process.
  process.send?.(message, undefined, undefined, () => {});
}

/** recorded records every write just before it is sent, and its response. */
function recorded(inner: Transport): Transport {
  let last = 0;
  return {
    host: inner.host,
    close: () => inner.close(),
    [Symbol.asyncDispose]: () => inner.close(),
    async request(request) {
      if (request.method === 'GET') return await inner.request(request);
      const id = ++last;
      const response = await inner.request({ ...request, beforeSend: () => noteSent(request, id) });
      journal({ kind: 'answered', id, status: response.status, at: machineTime() });
      return response;
    },
  };
}

function noteSent(request: TransportRequest, id: number): void {
  // Read first: if the process is stopped right here, the guard refuses afterwards and nothing is recorded.
  const at = machineTime();
  request.beforeSend?.();
  const path = request.path.split('?')[0] ?? '';
  const what = path.includes('/leases') ? 'lease' : 'write';
  const entry: JournalEntry = { kind: 'sent', id, what, name: path.split('/').at(-1) ?? '', at };
  journal(entry);
}

async function write(client: Client, signal: AbortSignal, writer: number): Promise<void> {
  for (let n = 1; !enough.signal.aborted || (lost(signal) && refused < MIN_REFUSED); n++) {
    // Stopped gracefully: unlike a process that lost its Lease, it stops writing.
    if (signal.aborted && !lost(signal)) return;
    const name = `${settings.name}-${writer}-${n}`;
    const key = { namespace: settings.namespace, name };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { by: settings.name } };
    try {
      await client.patch(ConfigMap, key, { type: 'apply', body }, { fieldManager: 'election-proof' });
    } catch (error) {
      if (codeOf(error) === 'BOWLINE_NOT_LEADER') {
        refused++;
        journal({ kind: 'refused', at: machineTime() });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function lost(signal: AbortSignal): boolean {
  return signal.aborted && codeOf(signal.reason) === 'BOWLINE_LEADERSHIP_LOST';
}

function codeOf(error: unknown): string {
  return error instanceof BowlineError ? error.code : String(error);
}

const transport = recorded(connect({ server: settings.server, ca: settings.ca }));
const client = createClient({ transport, component: settings.name });
let writing: Promise<unknown> = Promise.resolve();

const operator = defineOperator({
  name: 'election-proof',
  domain: 'bowline.dev',
  permissions: [allow(['patch'], ConfigMap)],
  setup: (context) => ({ client: context.client }),
  services: [
    {
      name: 'writer',
      leaderOnly: true,
      run: async (signal, deps) => {
        sendToProof({ type: 'leading' });
        const writers = Array.from({ length: WRITERS }, (_, writer) => write(deps.client, signal, writer));
        writing = Promise.all(writers);
        await writing;
      },
    },
  ],
});

const manager = new Manager({
  operators: [operator],
  clientFor: () => client,
  namespace: settings.namespace,
  leaderElection: {
    identity: settings.name,
    leaseDurationMs: settings.leaseDurationMs,
    renewDeadlineMs: settings.renewDeadlineMs,
    retryPeriodMs: settings.retryPeriodMs,
  },
  healthAddress: '127.0.0.1:0',
  metricsAddress: '0',
  drainTimeoutMs: 2_000,
  log: createLog({ level: 'warn', destination: process.stderr }),
});

let reason = 'stopped';
try {
  await runUntilSignal((signal) => manager.run(signal));
} catch (error) {
  reason = codeOf(error);
}
await writing;
sendToProof({ type: 'ended', reason, refused });
await transport.close();
process.disconnect();
