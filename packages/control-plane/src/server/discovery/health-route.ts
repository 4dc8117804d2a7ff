import type { ApiResponse, Route } from '../http/api-request.ts';
import { isTrue } from '../http/request-info.ts';

/** HealthCheck is a condition that must hold for the server to be healthy. */
export interface HealthCheck {
  readonly name: string;
  readonly isHealthy: () => boolean;
}

const PING: HealthCheck = { name: 'ping', isHealthy: () => true };

/**
 * healthRoute serves `/healthz`, `/livez` and `/readyz`, each check below them, and reports that there are no metrics.
 */
export function healthRoute(checks: readonly HealthCheck[]): Route {
  const all = [PING, ...checks];
  return ({ path }, _request, query) => {
    const [root = '', name, ...rest] = path.split('/').filter((segment) => segment !== '');
    if (root === 'metrics' && name === undefined)
      return text(200, '# The embedded control plane does not export metrics.\n');
    if (!['healthz', 'livez', 'readyz'].includes(root) || rest.length > 0) return undefined;
    if (name !== undefined) {
      const check = all.find((each) => each.name === name);
      if (!check) return undefined;
      return check.isHealthy() ? text(200, 'ok') : text(500, 'internal server error: reason withheld\n');
    }
    const excluded = new Set(query.getAll('exclude'));
    const results = all.map((check) => ({
      name: check.name,
      isHealthy: excluded.has(check.name) || check.isHealthy(),
    }));
    const isHealthy = results.every((each) => each.isHealthy);
    if (isHealthy && !(query.has('verbose') && (query.get('verbose') === '' || isTrue(query.get('verbose')))))
      return text(200, 'ok');
    const lines = results.map((each) => {
      if (excluded.has(each.name)) return `[+]${each.name} excluded: ok`;
      return each.isHealthy ? `[+]${each.name} ok` : `[-]${each.name} failed: reason withheld`;
    });
    return text(isHealthy ? 200 : 500, `${lines.join('\n')}\n${root} check ${isHealthy ? 'passed' : 'failed'}\n`);
  };
}

function text(status: number, body: string): ApiResponse {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache, private' };
  return { status, headers: { ...headers, 'x-content-type-options': 'nosniff' }, body };
}
