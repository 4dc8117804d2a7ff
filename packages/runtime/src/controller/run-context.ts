import type { ObjectKey } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';
import type { Cause } from '../queue/cause.ts';
import type { EnqueueOptions } from './context.ts';
import { type LiveClient, RecordingClient, type WriteRecorder } from './live-client.ts';
import type { Run } from './run.ts';
import type { CacheReads, SourceTypes } from './sources.ts';

/** RunShared is what all runs of a controller have in common. Its functions need no `this`. */
export interface RunShared {
  readonly reads: CacheReads<SourceTypes>;
  readonly clock: Clock;
  readonly deps: unknown;
  readonly client: Client;
  readonly recorder: WriteRecorder;
  readonly logOf: (run: Run) => Log;
  readonly enqueue: (key: ObjectKey | string, options?: EnqueueOptions) => void;
}

/** RunContext is the context of one run. What costs something (signal, log, live) is made when it is asked for. */
export class RunContext {
  readonly object: unknown;
  readonly key: ObjectKey | string;
  readonly causes: readonly Cause[];
  readonly attempt: number;
  readonly clock: Clock;
  readonly deps: unknown;
  readonly get: CacheReads<SourceTypes>['get'];
  readonly list: CacheReads<SourceTypes>['list'];
  readonly enqueue: RunShared['enqueue'];
  readonly #shared: RunShared;
  readonly #run: Run;
  #log: Log | undefined;
  #live: LiveClient | undefined;

  constructor(shared: RunShared, run: Run, key: ObjectKey | string, object: unknown) {
    this.#shared = shared;
    this.#run = run;
    this.object = object;
    this.key = key;
    this.causes = run.item.causes;
    this.attempt = run.item.failures + 1;
    this.clock = shared.clock;
    this.deps = shared.deps;
    this.get = shared.reads.get;
    this.list = shared.reads.list;
    this.enqueue = shared.enqueue;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get log(): Log {
    this.#log ??= this.#shared.logOf(this.#run);
    return this.#log;
  }

  get live(): LiveClient {
    this.#live ??= new RecordingClient(this.#shared.client, this.#shared.recorder, this.#run.signal);
    return this.#live;
  }
}
