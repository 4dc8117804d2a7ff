import type { Clock } from '@bowline/machinery';
import type { GatewayClient } from '../../gateway/gateway-client.ts';
import { GatewayError, type GatewayProblem } from '../../gateway/gateway-error.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentMetrics } from '../agent-metrics.ts';

/** RollbackTrigger is a failure that can make a gateway return to its snapshot. */
export type RollbackTrigger = 'scanFailure' | 'projectLoadError' | 'configError' | 'healthCheckFailure';

/** LoadError is a gateway that did not load what was placed. */
export class LoadError extends AgentError {
  /** What it triggers. Empty if the commit cannot be the cause. */
  readonly triggers: readonly RollbackTrigger[];

  constructor(
    reason: 'ScanFailed' | 'ProjectLoadError' | 'HealthCheckFailed',
    message: string,
    triggers: readonly RollbackTrigger[],
    cause?: unknown,
  ) {
    super(reason, message, { cause });
    this.triggers = triggers;
  }
}

/** Problems of the API key and of the port: another commit would fail in the same way. */
const NOT_CAUSED_BY_COMMIT: ReadonlySet<GatewayProblem> = new Set(['unauthorized', 'forbidden', 'notFound', 'apiKey']);
/** A gateway lists a project some time after the scan that loads it. */
const LISTED_AFTER_MS: readonly number[] = [500, 1_500, 3_000];
const MAX_NAMES = 5;

/**
 * loadGateway makes the gateway load the placed files, and returns the result of the scan. It throws LoadError if the gateway does
 * not accept the scan, or does not list a project that was placed.
 */
export async function loadGateway(
  gateway: Pick<GatewayClient, 'scan' | 'missingProjects'>,
  projects: readonly string[],
  { clock, metrics, signal }: { readonly clock: Clock; readonly metrics: AgentMetrics; readonly signal: AbortSignal },
): Promise<string> {
  const startedAt = clock.monotonic();
  let summary: string;
  try {
    const result = await gateway.scan(signal);
    summary = result.summary;
    metrics.scans.add({ result: result.isConfirmed ? 'success' : 'unconfirmed' });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    metrics.scans.add({ result: 'failure' });
    const isConfig = error.message.includes('/scan/config');
    const triggers: RollbackTrigger[] = isConfig ? ['scanFailure', 'configError'] : ['scanFailure'];
    throw new LoadError('ScanFailed', error.message, NOT_CAUSED_BY_COMMIT.has(error.problem) ? [] : triggers, error);
  } finally {
    metrics.scanDuration.observe((clock.monotonic() - startedAt) / 1000);
  }
  let missing = await gateway.missingProjects(projects, signal);
  for (const delayMs of LISTED_AFTER_MS) {
    if (missing.length === 0) break;
    await clock.sleep(delayMs, signal);
    missing = await gateway.missingProjects(missing, signal);
  }
  if (missing.length === 0) return summary;
  const names = `${missing.slice(0, MAX_NAMES).join(', ')}${missing.length > MAX_NAMES ? ', …' : ''}`;
  throw new LoadError(
    'ProjectLoadError',
    `the gateway did not load ${names}; see the log of the gateway and correct the project`,
    ['projectLoadError'],
  );
}
