import type { ControllerRunner } from '../controller/controller-runner.ts';
import type { HealthCheck } from '../operations/health.ts';
import type { OperatorRunner } from './operator-runner.ts';
import { describeInformer } from './watch-liveness.ts';

/** ReadinessInput holds what readiness depends on. */
export interface ReadinessInput {
  readonly operators: readonly OperatorRunner[];
  readonly stopping: boolean;
  /**
   * Whether the timeout of the first sync has passed: from then on readiness depends only on what the process can
   * serve.
   */
  readonly hasSyncTimedOut: boolean;
}

/**
 * readinessChecks returns the checks of whether the process does its work, or could do it as a standby. Caches that
 * cannot sync (a missing permission, a kind that is not served) delay readiness only for the sync timeout: after that
 * they are reported, but the process is ready as long as it serves anything.
 */
export function readinessChecks({ operators, stopping, hasSyncTimedOut }: ReadinessInput): HealthCheck[] {
  if (stopping) return [{ name: 'running', ok: false, message: 'the process is stopping' }];
  if (operators.length === 0) return [{ name: 'running', ok: false, message: 'the process is starting' }];
  const controllers = operators.flatMap((operator) => operator.controllers);
  const servesSomething = controllers.length === 0 || controllers.some((controller) => controller.isSynced);
  const checks: HealthCheck[] = [];
  for (const runner of operators) {
    checks.push(operatorCheck(runner));
    if (runner.operator.webhooks.length > 0) checks.push(webhookCheck(runner));
    checks.push(...runner.services.flatMap((service) => service.check() ?? []));
    for (const controller of runner.controllers) {
      const name = `controller-${controller.controller.name}`;
      const waiting = controller.unsynced();
      if (waiting.length === 0) {
        checks.push({ name, ok: true, ...details(controller) });
      } else {
        const why = waiting.map((health) => `${describeInformer(health)}: ${health.reason ?? health.state}`);
        checks.push({ name, ok: hasSyncTimedOut && servesSomething, message: `waiting for ${why.join('; ')}` });
      }
    }
  }
  return checks;
}

/** startupChecks returns the checks of whether every operator has finished its setup. */
export function startupChecks(operators: readonly OperatorRunner[]): HealthCheck[] {
  if (operators.length === 0) return [{ name: 'running', ok: false, message: 'the process is starting' }];
  return operators.map(({ operator, state }) => {
    const name = `operator-${operator.name}`;
    return state === 'setting-up' ? { name, ok: false, message: 'setup has not finished' } : { name, ok: true };
  });
}

function webhookCheck({ operator, webhooks }: OperatorRunner): HealthCheck {
  return webhooks?.check() ?? { name: `webhooks-${operator.name}`, ok: false, message: 'not served yet' };
}

function operatorCheck(runner: OperatorRunner): HealthCheck {
  const name = `operator-${runner.operator.name}`;
  const problem = runner.leaseProblem();
  if (runner.state === 'setting-up') return { name, ok: false, message: 'setup has not finished' };
  if (runner.state === 'stopped') return { name, ok: false, message: 'stopped' };
  // A standby that cannot reach its Lease could not take over.
  if (runner.state === 'standby' && problem) return { name, ok: false, message: problem.message };
  const holder = runner.holder();
  if (runner.state === 'standby') return { name, ok: true, message: holder ? `standby, ${holder} leads` : 'standby' };
  return { name, ok: true, message: runner.state };
}

/** Blocked keys and missing optional kinds do not make the process unready, but they should be visible. */
function details(controller: ControllerRunner): { message?: string } {
  const keys = controller.overdueKeys();
  const kinds = new Set(controller.notServed().map(describeInformer));
  const parts = [
    ...(keys.length === 0
      ? []
      : [`${keys.length} blocked by a reconcile that does not end: ${keys.slice(0, 5).join(', ')}`]),
    ...(kinds.size === 0 ? [] : [`works without ${[...kinds].join(', ')}, which the server does not serve`]),
  ];
  return parts.length === 0 ? {} : { message: parts.join('; ') };
}
