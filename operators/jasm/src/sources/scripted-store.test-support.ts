import { setMaxListeners } from 'node:events';
import { type Clock, type Random, seededRandom, VirtualClock } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import { createLog } from '@bowline/runtime/manager';
import type { ExternalSecret, SecretProvider, SecretRef } from '../providers/provider.ts';
import { ProviderError, type ProviderErrorKind } from '../providers/provider-error.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import type { Source } from './source.ts';
import { type SourceMetrics, SourceReads } from './source-reads.ts';

/** ScriptedCall is a call that waits until the test answers it. */
export interface ScriptedCall {
  readonly operation: 'fetch' | 'probe' | 'batch';
  readonly paths: readonly string[];
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** answer ends the call with the store's current content. */
  answer(): Promise<void>;
  fail(problem: ProviderErrorKind | Error, retryAfterMs?: number): Promise<void>;
}

/** ScriptedStoreOptions configures the capabilities of the store. */
export interface ScriptedStoreOptions {
  readonly versions?: boolean;
  readonly batch?: boolean;
  /** Defaults to false. */
  readonly perNamespace?: boolean;
  /** Whether to answer every call at once. Defaults to false: the test answers. */
  readonly immediate?: boolean;
  readonly random?: Random;
}

/** ScriptedStore is a store in memory whose calls end when a test ends them, with the reads that use it. */
export class ScriptedStore {
  readonly clock = new VirtualClock();
  readonly stop = new AbortController();
  /** Every call that was made. */
  readonly calls: ScriptedCall[] = [];
  /** The unanswered calls. */
  readonly open: ScriptedCall[] = [];
  readonly values = new Map<string, { text: string; version: string }>();
  /** The paths whose items of a batch fail, with the kind of error. */
  readonly itemErrors = new Map<string, ProviderErrorKind>();
  readonly reads: SourceReads;
  /** The lines of the log. */
  readonly logged: string[] = [];
  /** Whether a probe returns versions. */
  canProbeVersion = true;
  loads = 0;
  loadError: Error | undefined;
  coalesced = 0;

  constructor(options: ScriptedStoreOptions = {}) {
    const metrics: SourceMetrics = { observeCall: () => undefined, countCoalesced: () => this.coalesced++ };
    this.reads = new SourceReads({
      kinds: new Map([['scripted', this.#kind(options)]]),
      metrics,
      context: {
        clock: this.clock satisfies Clock,
        random: options.random ?? seededRandom(1),
        signal: this.stop.signal,
        namespace: 'bowline-system',
        env: {},
        // The store needs no client.
        client: {} as Client,
        log: createLog({ level: 'debug', destination: { write: (line) => void this.logged.push(line) } }),
      },
    });
  }

  put(path: string, text: string, version: string): void {
    this.values.set(path, { text, version });
  }

  /** made returns the calls so far, for instance `fetch a`. */
  get made(): readonly string[] {
    return this.calls.map(({ operation, paths }) => `${operation} ${paths.join(' ')}`);
  }

  /** next returns the oldest unanswered call. */
  async next(): Promise<ScriptedCall> {
    await this.clock.advance(0);
    const [call] = this.open;
    if (!call) throw new Error('no call is in progress');
    return call;
  }

  #kind(options: ScriptedStoreOptions): ConfiguredKind {
    return {
      name: 'scripted',
      pathFormat: 'anything',
      canProbeVersion: true,
      names: (path) => [path],
      dependsOnNamespace: () => options.perNamespace ?? false,
      load: async () => {
        this.loads++;
        if (this.loadError) throw this.loadError;
        return this.#provider(options);
      },
    };
  }

  #provider({ versions = false, batch = false, immediate = false }: ScriptedStoreOptions): SecretProvider {
    const call = <T>(
      operation: ScriptedCall['operation'],
      refs: readonly SecretRef[],
      signal: AbortSignal,
      content: () => T,
    ): Promise<T> =>
      new Promise((resolve, reject) => {
        const done = async (settle: () => void): Promise<void> => {
          this.open.splice(this.open.indexOf(made), 1);
          settle();
          await this.clock.advance(0);
        };
        const made: ScriptedCall = {
          operation,
          paths: refs.map(({ path }) => path),
          namespace: refs[0]?.namespace ?? '',
          signal,
          answer: () =>
            done(() => {
              try {
                resolve(content());
              } catch (error) {
                reject(error);
              }
            }),
          fail: (problem, retryAfterMs) =>
            done(() => reject(problem instanceof Error ? problem : errorOf(problem, retryAfterMs))),
        };
        this.calls.push(made);
        if (immediate) resolve(content());
        else this.open.push(made);
      });
    const secretOf = ({ path }: SecretRef): ExternalSecret => {
      const value = this.values.get(path);
      if (!value) throw errorOf('not-found');
      const version = versions ? value.version : undefined;
      return { provider: 'scripted', sourcePath: path, payload: { kind: 'text', text: value.text }, version };
    };
    const itemOf = (ref: SecretRef): ExternalSecret | ProviderError => {
      const kind = this.itemErrors.get(ref.path);
      return kind ? errorOf(kind) : secretOf(ref);
    };
    return {
      name: 'scripted',
      capabilities: { versions, batch },
      fetchSecret: (ref, signal) => call('fetch', [ref], signal, () => secretOf(ref)),
      probeVersion: (ref, signal) =>
        call('probe', [ref], signal, () => (this.canProbeVersion ? secretOf(ref).version : undefined)),
      fetchSecrets: (refs, signal) => call('batch', refs, signal, () => refs.map(itemOf)),
    };
  }
}

/** sourceOf returns a source of the store. */
export function sourceOf(path: string, ref: Partial<SecretRef> = {}): Source {
  return { provider: 'scripted', ref: { path, namespace: 'team', ...ref } };
}

/** NEVER is a signal that is never aborted. */
export const NEVER: AbortSignal = new AbortController().signal;
// All reads of a test listen to it.
setMaxListeners(0, NEVER);

function errorOf(kind: ProviderErrorKind, retryAfterMs?: number): ProviderError {
  return new ProviderError(`the store reports ${kind}`, {
    kind,
    provider: 'scripted',
    operation: 'fetch',
    code: kind,
    retryAfterMs,
  });
}
