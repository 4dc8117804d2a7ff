/** HealthCheck is the outcome of one check. */
export interface HealthCheck {
  /** A short, stable name such as `informers` or `event-loop`. */
  readonly name: string;
  readonly ok: boolean;
  /** Why it failed, or a detail worth knowing; shown with `?verbose`. */
  readonly message?: string;
}

/** HealthReport is the outcome of all checks; it is healthy when every one of them is. */
export interface HealthReport {
  readonly checks: readonly HealthCheck[];
}

/** isHealthy is whether no check failed. */
export function isHealthy(report: HealthReport): boolean {
  return report.checks.every((check) => check.ok);
}

/** renderHealth writes a report the way kube-apiserver and controller-runtime do, so that people can read it at once. */
export function renderHealth(endpoint: string, report: HealthReport): string {
  const lines = report.checks.map((check) => {
    const detail = check.message === undefined ? '' : `: ${check.message}`;
    return check.ok ? `[+]${check.name} ok${detail}` : `[-]${check.name} failed${detail}`;
  });
  return [...lines, `${endpoint} check ${isHealthy(report) ? 'passed' : 'failed'}`, ''].join('\n');
}
