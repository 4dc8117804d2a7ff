import { request } from 'node:https';
import { type Cluster, cluster, kubectlOf } from '@bowline/control-plane/testing';
import { ConfigMap, Lease, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { operators } from '../operators/operators.ts';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { hooksRegistry } from '../testing/hooks.test-support.ts';
import { install, retryUntilAdmitted } from '../testing/install.test-support.ts';
import { Badge, bowline } from '../testing/test-operators.test-support.ts';

const badgeOf = (namespace: string, text: string) =>
  Badge.withDefaults({ metadata: { namespace, name: 'a' }, spec: { text } });

/** Scrapes like Prometheus: with the token of an account that may get the URL. */
async function scrape(c: Cluster, port: number): Promise<void> {
  const { namespace, name } = await c.serviceAccount({
    clusterRules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  });
  const { token } = await c.admin.requestToken({ namespace, name });
  const get = (authorization: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: '/metrics',
        headers: { authorization },
        rejectUnauthorized: false,
      };
      request(options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  expect(await get('Bearer nobody')).toBe(401);
  // Before the API server honours the right it refuses, and the refusal is cached.
  await expect.poll(() => get(`Bearer ${token}`), { timeout: 30_000, interval: 1000 }).toBe(200);
}

describe('bowline run', () => {
  it.each([
    ['in the whole cluster', (_: Cluster) => []],
    ['in one namespace, without permissions elsewhere', (c: Cluster) => ['--namespaces', c.namespace]],
  ])('works %s with the printed configuration and permissions, and exits with 0 on SIGTERM', async (_, limit) => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const elsewhere = await c.createNamespace('elsewhere');
    const { home, ports, start } = await install(c, files, ['--operators', 'badge', '--shout', ...limit(c)]);
    await using manager = await start();

    const configurations = { name: `bowline-badge-${home}` };
    await c.until(ValidatingWebhookConfiguration, configurations, ({ webhooks }) =>
      Boolean(webhooks?.[0]?.clientConfig.caBundle),
    );
    await manager.logged(/serving webhooks/);
    await manager.logged(/controller started/);
    expect((await fetch(`http://127.0.0.1:${ports.health}/readyz`)).status).toBe(200);
    const rude = () => c.admin.create(Badge, badgeOf(c.namespace, 'rude'));
    await retryUntilAdmitted(() => expect(rude()).rejects.toThrow('spec.text is rude'));
    await c.admin.create(Badge, badgeOf(elsewhere, 'far'));
    await c.admin.create(Badge, badgeOf(c.namespace, 'near'));
    const { data } = await c.until(ConfigMap, { name: 'a' }, () => true);
    expect(data).toEqual({ text: 'NEAR' });
    const isLimited = limit(c).length > 0;
    if (isLimited) {
      const far = await c.admin.get(Badge, { namespace: elsewhere, name: 'a' });
      expect(far.metadata?.finalizers).toBeUndefined();
    } else {
      await c.until(ConfigMap, { namespace: elsewhere, name: 'a' }, () => true);
    }
    // The rights that secure metrics need are cluster-wide: a limited install has none.
    if (isLimited) expect((await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).status).toBe(200);
    else await scrape(c, ports.metrics);
    for (const namespace of [c.namespace, elsewhere]) {
      await c.admin.delete(Badge, { namespace, name: 'a' });
      await c.untilGone(Badge, { namespace, name: 'a' });
    }

    const { code, output } = await manager.stop();
    expect([code, output]).toEqual([0, expect.stringContaining('operator stopped')]);
    // Controllers rely on the webhooks having checked every object.
    const order = ['serving webhooks', 'wrote the webhook configuration', 'controller started'];
    expect(order.map((line) => output.indexOf(line)).sort((a, b) => a - b)).toEqual(
      order.map((line) => output.indexOf(line)),
    );
    expect(output).toContain('wrote the webhook configuration');
    const { spec } = await c.admin.get(Lease, { namespace: home, name: 'bowline-badge' });
    expect(spec?.holderIdentity ?? '').toBe('');
  });

  it('reports how to install missing kinds, and rejected credentials', async () => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const admin = await c.kubeconfig('admin');
    const kubeconfig = await files.write('admin', JSON.stringify(admin));
    const missing = await bowline(['run', '--operators', 'ghost', '--kubeconfig', kubeconfig]);
    expect(missing.err).toMatch(
      /does not serve Ghost .*`bowline crds --operators ghost \| kubectl apply --server-side -f -`.*KINDS_MISSING/,
    );
    expect(missing.code).toBe(1);

    const users = [{ name: admin.users[0]?.name, user: { token: 'wrong' } }];
    const stranger = await files.write('stranger', JSON.stringify({ ...admin, users }));
    const refused = await bowline(['run', '--operators', 'badge', '--kubeconfig', stranger]);
    expect(refused.err).toMatch(/error: .*API_UNAUTHORIZED/);
    expect(refused.err).not.toContain('wrong');
    expect(refused.code).toBe(1);
  });
});

/** The operators whose kinds are cluster-scoped. */
const WHOLE_CLUSTER: readonly string[] = ['ztwim'];

describe('bowline manifests', () => {
  it.each(WHOLE_CLUSTER)('refuses to limit %s to namespaces', async (name) => {
    const args = ['manifests', '--image', 'bowline:test', '--namespaces', 'a', '--operators', name];
    const { code, err } = await bowline(args, { registry: operators });
    expect([code, err]).toEqual([1, expect.stringMatching(/cannot limit the operator ztwim .* run it without namesp/)]);
  });

  it.each([
    ['shared', []],
    ['per operator', ['--per-operator']],
    ['without secure metrics or leader election', ['--metrics-secure=false', '--leader-elect=false']],
  ])('prints manifests that the API server accepts: %s', async (_, args) => {
    await using c = await cluster();
    const kubectl = await kubectlOf(c);
    const common = ['manifests', '--image', 'bowline:test', '--namespace', c.namespace, ...args];
    const all = Object.keys(operators);
    for (const [limit, selected] of [
      [[], all],
      [['--namespaces', c.namespace], all.filter((name) => !WHOLE_CLUSTER.includes(name))],
    ] as const) {
      const tested = await bowline([...common, ...limit, '--operators', 'badge,sticker']);
      const real = await bowline([...common, ...limit, '--operators', selected.join(',')], { registry: operators });
      const served = await bowline([...common, ...limit, '--operators', 'hooks'], { registry: hooksRegistry });
      const out = `${tested.out}${real.out}${served.out}`;
      const applied = await kubectl(['apply', '--server-side', '--dry-run=server', '-f', '-'], out);
      expect(applied.split('\n').filter((line) => line.endsWith('serverside-applied (server dry run)'))).toHaveLength(
        out.split(/^---$/m).length - 1,
      );
    }
  });
});
