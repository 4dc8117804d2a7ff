import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { apiVersionOf, ConfigMap, Namespace, Pod, ServiceAccount } from '@bowline/kubernetes';
import { SelfSubjectReview } from '@bowline/kubernetes/authentication-v1';
import { untilAborted } from '@bowline/machinery';
import { BowlineError, controller, defineOperator, type Operator } from '@bowline/runtime';
import { connect, createClient, loadKubeconfig } from '@bowline/runtime/client';
import type { LocalContext, LocalUse } from '@bowline/runtime/manager';
import { defineResource, s } from '@bowline/runtime/resource';
import { describe, expect, it } from 'vitest';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline, type CommandResult } from '../testing/test-operators.test-support.ts';

/** Kite is a kind that no other test uses: the operator works in the whole cluster. */
const Kite = defineResource({
  group: 'cli.test.bowline.dev',
  version: 'v1',
  kind: 'Kite',
  scope: 'Namespaced',
  spec: s.object({}),
  status: s.object({ color: s.string().optional() }),
});

/** kiteWith returns an operator that is tried out in some way. */
function kiteWith(start: LocalUse['start']): Operator {
  return defineOperator({
    name: 'kite',
    domain: 'bowline.dev',
    resources: [Kite],
    config: s.object({ color: s.string().default('white') }),
    setup: ({ config }) => ({ color: config.color }),
    controllers: [
      controller(Kite)
        .using<{ readonly color: string }>()
        .reconcile(({ status, deps }) => {
          status.set({ color: deps.color });
        }),
    ],
    samples: [sampleIn('unused')],
    local: { start },
  });
}

/** idleWith returns an operator that does nothing else. */
function idleWith(name: string, start: LocalUse['start']): Operator {
  return defineOperator({
    name,
    domain: 'bowline.dev',
    services: [{ name: 'idle', run: untilAborted }],
    local: { start },
  });
}

const sampleIn = (namespace: string, name = 'sample') => ({
  apiVersion: apiVersionOf(Kite),
  kind: Kite.kind,
  metadata: { namespace, name },
  spec: {},
});

async function up(operators: readonly Operator[], env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const registry = Object.fromEntries(
    operators.map((operator) => [operator.name, { summary: 'flies', load: () => Promise.resolve(operator) }]),
  );
  return await bowline(['up', '--exit-when-ready', '--timeout', '30s', '--json', ...args], { registry, env });
}

async function upIn(c: Cluster, operators: readonly Operator[], ...args: readonly string[]): Promise<CommandResult> {
  await using files = await temporaryFiles();
  const KUBECONFIG = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
  return await up(operators, { KUBECONFIG }, '--control-plane', 'current-context', '--yes', ...args);
}

/** whoAmI returns the user that a kubeconfig authenticates as, and the Pod of its token. */
async function whoAmI({ folder, kubeconfigFor }: LocalContext, account: Parameters<LocalContext['kubeconfigFor']>[0]) {
  const path = join(folder, 'kubeconfig');
  await writeFile(path, await kubeconfigFor(account), { mode: 0o600 });
  await using client = createClient({ transport: connect(await loadKubeconfig({ paths: [path] })) });
  const { status } = await client.create(SelfSubjectReview, {});
  const { username, extra } = status?.userInfo ?? {};
  return [username, extra?.['authentication.kubernetes.io/pod-name']?.[0]];
}

/** trial starts a trial in a namespace, and records what it sees. */
function trial(namespace: string, seen: unknown[]): LocalUse['start'] {
  return async (context) => {
    const { admin, folder, signal } = context;
    const account = { namespace, name: 'flyer' };
    if (!(await admin.find(Namespace, { name: namespace }))) {
      await admin.create(Namespace, { metadata: { name: namespace } });
    }
    await admin.create(ServiceAccount, { metadata: account });
    const containers = [{ name: 'main', image: 'kite' }];
    await admin.create(Pod, { metadata: account, spec: { serviceAccountName: account.name, containers } });
    seen.push(await whoAmI(context, { serviceAccount: account }));
    seen.push(await whoAmI(context, { serviceAccount: account, pod: account.name }));
    seen.push(folder);
    return {
      samples: [sampleIn(namespace, 'started')],
      config: { color: 'red' },
      warning: 'the wind is simulated',
      stopped: untilAborted(signal).then(async () => {
        // What was started ends before the cluster and the folder do.
        const { status } = await admin.get(Kite, { namespace, name: 'started' });
        await stat(folder);
        seen.push(`ended with a ${status?.color} kite`);
      }),
    };
  };
}

describe('local.start', () => {
  it('provides samples and settings, with accounts of the cluster, and ends with bowline up', async () => {
    await using c = await cluster();
    const seen: unknown[] = [];
    const { code, out, err } = await upIn(c, [kiteWith(trial(c.namespace, seen))], '--samples');
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({
      ready: true,
      warnings: ['kite: the wind is simulated'],
      leftOut: [],
      objects: [{ kind: 'Kite', key: `${c.namespace}/started`, isReady: true }],
    });
    const user = `system:serviceaccount:${c.namespace}:flyer`;
    const folder = expect.any(String) as string;
    expect(seen).toEqual([[user, undefined], [user, 'flyer'], folder, 'ended with a red kite']);
    await expect(stat(String(seen[2]))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('works in a control plane of its own, whose folder it uses', async () => {
    const seen: unknown[] = [];
    // The real one is supervised by a process of this program, which a test is not.
    const { code, out } = await up([kiteWith(trial('sample-kites', seen))], {}, '--control-plane', 'embedded');
    expect([code, JSON.parse(out)]).toMatchObject([0, { objects: [{ key: 'sample-kites/started', isReady: true }] }]);
    expect(seen.slice(1)).toEqual([
      ['system:serviceaccount:sample-kites:flyer', 'flyer'],
      expect.stringMatching(/bowline-control-plane-\w+\/local\/kite$/),
      'ended with a red kite',
    ]);
    await expect(stat(String(seen[2]))).rejects.toMatchObject({ code: 'ENOENT' });
  }, 120_000);

  it('is not called without samples, and can leave them out with a reason while the operator runs', async () => {
    await using c = await cluster();
    const leftOut = 'git was not found; install git 2.38 or later';
    let calls = 0;
    const operator = kiteWith(async () => {
      calls += 1;
      return { leftOut };
    });
    expect(JSON.parse((await upIn(c, [operator], '--no-samples')).out)).toMatchObject({ ready: true, leftOut: [] });
    expect(calls).toBe(0);
    const { code, out } = await upIn(c, [operator], '--samples');
    expect([code, JSON.parse(out)]).toMatchObject([0, { ready: true, leftOut: [`kite: ${leftOut}`], objects: [] }]);
    expect(await c.admin.find(Kite, { namespace: 'unused', name: 'sample' })).toBeUndefined();
  });

  it('can leave out the operator too, and reports it if no other remains', async () => {
    await using c = await cluster();
    const operator = kiteWith(() => Promise.resolve({ leftOut: 'there is no wind', isOperatorLeftOut: true }));
    const other = idleWith('other', () => Promise.resolve({}));
    const { code, out } = await upIn(c, [operator, other], '--samples');
    expect([code, JSON.parse(out)]).toMatchObject([0, { ready: true, leftOut: ['kite: there is no wind'] }]);
    const alone = await upIn(c, [operator], '--samples');
    expect([alone.code, alone.err]).toEqual([
      1,
      expect.stringMatching(/no operator can run on this machine: kite: there is no wind \[BOWLINE_UP_TRIAL\]/),
    ]);
  });

  it('ends bowline up when it fails, at once or later, and ends what others have started', async () => {
    await using c = await cluster();
    const ended: string[] = [];
    const other = kiteWith(async ({ signal }) => {
      const stopped = untilAborted(signal).then(() => void ended.push('other'));
      return { samples: [sampleIn(c.namespace)], stopped };
    });
    const failing = idleWith('failing', () => Promise.reject(new Error('no wind')));
    const first = await upIn(c, [other, failing], '--samples');
    expect([first.code, first.err]).toEqual([
      1,
      expect.stringMatching(
        /cannot start what the samples of failing need: no wind; .*--no-samples \[BOWLINE_UP_TRIAL\]/,
      ),
    ]);
    expect(ended).toEqual(['other']);
    const crashing = idleWith('crashing', async ({ admin, signal }) => {
      const key = { namespace: c.namespace, name: 'crash' };
      const stopped = admin
        .create(ConfigMap, { metadata: key }, { signal })
        .then(() => Promise.reject(new BowlineError('BOWLINE_TEST_CRASH', 'the wind has stopped')));
      return { stopped };
    });
    const later = await upIn(c, [other, crashing], '--samples');
    expect([later.code, later.err]).toEqual([1, expect.stringContaining('the wind has stopped')]);
    expect(ended).toEqual(['other', 'other']);
  });
});
