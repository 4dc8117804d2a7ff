import type { ControlPlaneAccess } from '@bowline/control-plane';
import { type ClusterOptions, cluster, type OperatorsOptions } from '@bowline/control-plane/testing';
import { Secret } from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import type { RbacManifest } from '@bowline/runtime/install';
import { Refusals } from './refusals.ts';
import type { Performance, Scenario, Stage } from './scenario.ts';

/** How long an operator may take for the next expected state after something was refused. */
const TIMEOUT_MS = 2_500;

/** Outcome is the result of a scenario. */
export interface Outcome {
  /** Why the scenario failed; undefined if it passed. */
  readonly broken: string | undefined;
  /** What the API server forbade meanwhile. */
  readonly refused: readonly string[];
}

/** PlayOptions configures where and with which permissions a scenario runs. */
export interface PlayOptions {
  readonly controlPlane: ControlPlaneAccess;
  readonly modifyRbac?: ((manifests: readonly RbacManifest[]) => readonly RbacManifest[]) | undefined;
  /** The permission that is removed: `patch configmaps (ClusterRole)`. Defaults to none. */
  readonly permission?: string | undefined;
}

/**
 * play runs an operator through its scenario. A wait that does not end fails it; once something was refused, longer waits are cut
 * short.
 */
export async function play(
  { operator, open }: Scenario,
  { controlPlane, modifyRbac, permission }: PlayOptions,
): Promise<Outcome> {
  const performance = await open(controlPlane, permission);
  const aborter = new AbortController();
  const timeout = new RenewableTimeout(() =>
    aborter.abort(new Error(`did not happen after the refusal of ${refusals.seen.join(', ')}`)),
  );
  const refusals = new Refusals(() => timeout.begin());
  const rig: OperatorsOptions & ClusterOptions = {
    controlPlane,
    modifyRbac,
    operators: [operator],
    config: { [operator.name]: performance.config },
    clock: performance.clock,
    wrapClient: (client) => refusals.watch(client),
    // Nothing is drained: hanging requests are expected here.
    drainTimeoutMs: 100,
    signal: aborter.signal,
    prefix: operator.name,
  };
  let awaited = 'the start';
  const outcome = (error?: unknown): Outcome => ({
    broken: error === undefined ? undefined : `${awaited}: ${firstLine(error)}`,
    refused: refusals.seen,
  });
  try {
    const stage = await cluster(rig);
    const observed = observedStage(stage, (what, isOver) => {
      awaited = what;
      if (isOver) timeout.renew();
    });
    const played = playAll(observed, operator, performance);
    try {
      await Promise.race([played, rejectedBy(aborter.signal)]);
    } finally {
      timeout.end();
      // Errors of the clean-up are those of an operator that was not allowed to work.
      await Promise.allSettled([stage[Symbol.asyncDispose]()]);
      await Promise.allSettled([played]);
    }
    return outcome();
  } catch (error) {
    return outcome(aborter.signal.aborted ? aborter.signal.reason : error);
  } finally {
    timeout.end();
    await performance[Symbol.asyncDispose]?.();
  }
}

async function playAll(stage: Stage, operator: Operator, performance: Performance): Promise<void> {
  await stage.idle();
  await performance.play(stage);
  if (operator.webhooks.length > 0) await repairsCertificate(stage, operator);
  // The second time the Lease exists: it is updated, not created.
  await stage.restart();
  await stage.idle();
}

/** A damaged certificate is repaired. */
async function repairsCertificate(stage: Stage, { name }: Operator): Promise<void> {
  const secret = { namespace: stage.managerNamespace, name: `${name}-webhook-tls` };
  const damaged = Buffer.from('damaged').toString('base64');
  await stage.admin.patch(Secret, secret, { type: 'merge', body: { data: { 'tls.crt': damaged } } });
  await stage.until(Secret, secret, ({ data }) => data?.['tls.crt'] !== damaged);
}

/** RenewableTimeout expires after a while, unless it is renewed meanwhile. */
class RenewableTimeout {
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  begin(): void {
    this.#timer ??= setTimeout(this.#onEnd, TIMEOUT_MS);
  }

  renew(): void {
    this.#timer?.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

const WAITS: ReadonlySet<string | symbol> = new Set(['until', 'untilGone', 'untilList', 'idle', 'restart']);

/** observedStage reports what is waited for, and when it has happened. */
function observedStage(stage: Stage, report: (what: string, isOver: boolean) => void): Stage {
  return new Proxy(stage, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (!WAITS.has(name) || typeof member !== 'function') return member;
      return async (...args: readonly [{ kind?: string }?, { name?: string }?, ...unknown[]]): Promise<unknown> => {
        const what = [String(name), args[0]?.kind, args[1]?.name].filter(Boolean).join(' ');
        report(what, false);
        const result: unknown = await Reflect.apply(member, target, args);
        report(what, true);
        return result;
      };
    },
  });
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
