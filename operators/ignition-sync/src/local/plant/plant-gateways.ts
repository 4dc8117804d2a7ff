import { join } from 'node:path';
import { keyOf, keyString, Pod } from '@bowline/kubernetes';
import { type Clock, systemClock, systemRandom } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { Cache } from '@bowline/runtime/cache';
import type { LocalContext } from '@bowline/runtime/manager';
import { LABELS, POD_ANNOTATIONS } from '../../api/names.ts';

/** PlantGatewaysOptions configures which pods run. */
export interface PlantGatewaysOptions {
  readonly context: Pick<LocalContext, 'admin' | 'kubeconfigFor' | 'log'>;
  /** A folder for the volumes of the pods. */
  readonly folder: string;
  readonly namespace: string;
  readonly clock?: Clock | undefined;
}

interface RunningPod {
  readonly end: AbortController;
  readonly done: Promise<void>;
  /** Updates the files about the pod; undefined until they exist. */
  refresh: ((pod: Pod) => Promise<void>) | undefined;
}

const MIN_RESTART_MS = 1_000;
const MAX_RESTART_MS = 30_000;
/** More do not help: something else is wrong, and the IgnitionSync reports it. */
const MAX_REPLACED = 20;

/** PlantGateways plays the kubelet for the pods with an agent: it runs their agents and simulated gateways in this process. */
export class PlantGateways {
  readonly #options: PlantGatewaysOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #running = new Map<string, RunningPod>();
  readonly #replacing = new Map<string, Promise<void>>();
  readonly #pages = new Map<string, string>();

  constructor(options: PlantGatewaysOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.context.log;
  }

  /** pages returns the addresses of the gateways that run, by the names of their pods, sorted. */
  get pages(): readonly string[] {
    return [...this.#pages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, url]) => url);
  }

  /** run runs the pods until the signal is aborted and all of them have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { context, namespace } = this.#options;
    const cache = new Cache({ client: context.admin, clock: this.#clock, random: systemRandom, log: this.#log });
    const pods = cache.informer(Pod, { namespaces: [namespace] });
    using _ = pods.subscribe(({ previous, current }) => {
      const pod = current ?? previous;
      if (pod?.metadata?.labels?.[LABELS.agent] === 'true') this.#follow(pod, current !== undefined, signal);
      else if (current?.metadata?.annotations?.[POD_ANNOTATIONS.inject] === 'true') this.#replace(current, signal);
    });
    await cache.run(signal);
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await Promise.all(this.#replacing.values());
  }

  /**
   * A pod that was created before the API server called the webhook has no agent, and never gets one. On a busy machine this
   * happens at the start.
   */
  #replace(pod: Pod, signal: AbortSignal): void {
    const { namespace = '', name = '', uid = '', deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp !== undefined || this.#replacing.has(uid) || this.#replacing.size >= MAX_REPLACED) return;
    const remove = async (): Promise<void> => {
      try {
        await this.#clock.sleep(MIN_RESTART_MS, signal);
        await this.#options.context.admin.delete(Pod, { namespace, name }, { signal, preconditions: { uid } });
      } catch (error) {
        if (!signal.aborted) this.#warn(pod, 'cannot replace a pod without an agent', error);
      }
    };
    this.#replacing.set(uid, remove());
  }

  #follow(pod: Pod, exists: boolean, signal: AbortSignal): void {
    const uid = pod.metadata?.uid ?? '';
    const known = this.#running.get(uid);
    const isWanted = exists && pod.status?.phase === 'Running' && pod.metadata?.deletionTimestamp === undefined;
    if (known && !isWanted) {
      known.end.abort();
      this.#running.delete(uid);
    } else if (known) {
      known.refresh?.(pod).catch((error: unknown) => this.#warn(pod, 'cannot update the volumes of a gateway', error));
    } else if (isWanted) {
      const end = new AbortController();
      const running: RunningPod = { end, done: Promise.resolve(), refresh: undefined };
      const prepared = (refresh: RunningPod['refresh']): void => {
        running.refresh = refresh;
      };
      const done = this.#keepRunning(pod, prepared, AbortSignal.any([signal, end.signal]));
      this.#running.set(uid, Object.assign(running, { done }));
    }
  }

  #warn(pod: Pod, message: string, error: unknown): void {
    this.#log.warn(message, { pod: keyString(keyOf(pod)), error });
  }

  async #keepRunning(
    pod: Pod,
    onPrepared: (refresh: RunningPod['refresh']) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '', uid = '' } = pod.metadata ?? {};
    const { context, folder } = this.#options;
    for (let delayMs = MIN_RESTART_MS; !signal.aborted; delayMs = Math.min(2 * delayMs, MAX_RESTART_MS)) {
      try {
        // Loaded here, when there is a pod: most of the agent is needed for that alone.
        const { runGatewayPod } = await import('./gateway-pod.ts');
        await runGatewayPod(
          {
            pod,
            folder: join(folder, uid),
            admin: context.admin,
            kubeconfigFor: (account) => context.kubeconfigFor(account),
            log: this.#log,
            clock: this.#clock,
            onPrepared,
            onRunning: (url) => this.#pages.set(name, url),
          },
          signal,
        );
      } catch (error) {
        if (!signal.aborted) this.#warn(pod, 'a simulated gateway has failed', error);
      }
      this.#pages.delete(name);
      await this.#clock.sleep(delayMs, signal).catch(() => undefined);
    }
  }
}
