/** HealthCheck is the result of one check. */
export interface HealthCheck {
  /** A short, stable name such as `informers` or `event-loop`. */
  readonly name: string;
  readonly ok: boolean;
  /** Why it failed, or an informative detail; displayed with `?verbose`. */
  readonly message?: string;
}

/** HealthReport is the result of all checks; it is healthy if all of them are. */
export interface HealthReport {
  readonly checks: readonly HealthCheck[];
}

/** isHealthy returns whether no check failed. */
export function isHealthy(report: HealthReport): boolean {
  return report.checks.every((check) => check.ok);
}

/** renderHealth renders a report in the format of kube-apiserver and controller-runtime. */
export function renderHealth(endpoint: string, report: HealthReport): string {
  const lines = report.checks.map((check) => {
    const detail = check.message === undefined ? '' : `: ${check.message}`;
    return check.ok ? `[+]${check.name} ok${detail}` : `[-]${check.name} failed${detail}`;
  });
  return [...lines, `${endpoint} check ${isHealthy(report) ? 'passed' : 'failed'}`, ''].join('\n');
}
