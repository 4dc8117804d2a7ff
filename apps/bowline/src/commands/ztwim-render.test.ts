import { Readable } from 'node:stream';
import type { KubernetesObject } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { samples as all } from '../../../../operators/ztwim/src/samples.ts';
import { operators } from '../operators/operators.ts';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline, type CommandResult } from '../testing/test-operators.test-support.ts';

const NAMESPACE = 'zero-trust-workload-identity-manager';
/** Without the volume, which is not a kind of the operator. */
const samples = all.filter(({ apiVersion }) => apiVersion.startsWith('operator.openshift.io/'));
const manifests = samples.map((sample) => `---\n${stringify(sample)}`).join('');
const server = '---\napiVersion: operator.openshift.io/v1alpha1\nkind: SpireServer\nmetadata: { name: cluster }\n';

function render(text: string, ...args: readonly string[]): Promise<CommandResult> {
  const stdin = () => Readable.from([Buffer.from(text)]);
  return bowline(['ztwim', 'render', '-f', '-', ...args], { registry: operators, stdin });
}

const objectsIn = (out: string): readonly KubernetesObject[] =>
  parseAllDocuments(out).map((document) => document.toJS() as KubernetesObject);

const find = (objects: readonly KubernetesObject[], kind: string, name: string) =>
  objects.find((each) => each.kind === kind && each.metadata?.name === name) as
    | (KubernetesObject & { readonly data: Readonly<Record<string, string>> })
    | undefined;

describe('bowline ztwim render', () => {
  it('prints the objects of all operands, the same for the same objects in any order', async () => {
    const { code, out, err } = await render(manifests);
    expect([code, err]).toEqual([0, '']);
    const objects = objectsIn(out);
    const workloads = ['StatefulSet', 'DaemonSet', 'DaemonSet', 'Deployment'];
    expect(objects.map(({ kind }) => kind).filter((kind) => workloads.includes(kind ?? ''))).toEqual(workloads);
    expect(objects.every(({ apiVersion }) => apiVersion !== undefined)).toBe(true);
    expect(JSON.parse(find(objects, 'ConfigMap', 'spire-agent')?.data['agent.conf'] ?? '')).toMatchObject({
      agent: { trust_domain: 'example.io' },
      plugins: { NodeAttestor: [{ k8s_psat: { plugin_data: { cluster: 'prod-us-west' } } }] },
    });
    expect(find(objects, 'ConfigMap', 'spire-bundle')).toBeDefined();
    const reversed = [...samples].reverse().map((sample) => `---\n${stringify(sample)}`);
    expect((await render(reversed.join(''))).out).toBe(out);
  });

  it('takes the settings of the operator as flags', async () => {
    const own = stringify({ ...samples[0], spec: { trustDomain: 'example.io', clusterName: 'a' } });
    const agent = server.replace('SpireServer', 'SpireAgent');
    const args = ['--operand-namespace', 'spire', '--platform', 'openshift', '--kubelet-authorization', 'proxy'];
    const { code, out, err } = await render(`${own}${agent}`, ...args);
    expect([code, err]).toEqual([0, '']);
    const objects = objectsIn(out);
    expect(find(objects, 'DaemonSet', 'spire-agent')?.metadata?.namespace).toBe('spire');
    expect(find(objects, 'SecurityContextConstraints', 'spire-agent')).toBeDefined();
    expect(JSON.stringify(find(objects, 'ClusterRole', 'spire-agent'))).toContain('nodes/proxy');
  });

  it('prints a table of conflicts with both values, and no objects', async () => {
    const { code, out, err } = await render(`${manifests}`.replace('logLevel: debug', 'trustDomain: other.org'));
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^FIELD +KIND +VALUE +WANTED +WANTED BY\ntrustDomain +SpireServer +other.org +example.io +ZeroT/,
    );
    expect(err).toMatch(/objects have different values of trustDomain; .*ZTWIM_CONFLICT/);
  });

  it('reports every manifest that it cannot use, with file and line', async () => {
    await using files = await temporaryFiles();
    const path = await files.write(
      'all.yaml',
      `kind: ConfigMap\napiVersion: v1\n${server}spec:\n  logLevel: loud\n  replica: 2\n${server}---\napiVersion: v1\nkind: SpireAgent\n`,
    );
    const { code, out, err } = await bowline(['ztwim', 'render', '-f', path], { registry: operators });
    expect([code, out]).toEqual([1, '']);
    const lines = err.trimEnd().split('\n');
    expect(lines.map((line) => line.replaceAll(path, 'all.yaml'))).toEqual([
      'all.yaml:9: spec.replica: unknown field; remove it',
      expect.stringMatching(/^all\.yaml:8: spec\.logLevel: Unsupported value: "loud"/),
      'all.yaml:12: SpireServer is also in all.yaml:5; keep one of them',
      'all.yaml:16: SpireAgent is in v1; its apiVersion must be operator.openshift.io/v1alpha1',
      expect.stringMatching(
        /^error: cannot render: all\.yaml:1: ConfigMap is not a kind of ZTWIM; pass only ZeroTrust/,
      ),
    ]);
  });

  it.each([
    ['no ZeroTrustWorkloadIdentityManager', server, /SpireServer: there is no ZeroTrustWorkloadIdentityManager/],
    ['no operand', stringify(samples[0]), /there is no operand; pass a SpireServer/],
    ['another name', server.replace('name: cluster', 'name: other'), /standard input:4: .*singleton/],
    ['no trust domain', manifests.replace('trustDomain: example.io', ''), /no object sets trustDomain; set ZeroTr/],
    [
      'another namespace',
      manifests.replaceAll(`namespace: ${NAMESPACE}`, 'namespace: other'),
      /namespace is "other", but the operands run in/,
    ],
    [
      'a validity that SPIRE refuses',
      manifests.replace('logLevel: debug', 'caValidity: 30m'),
      /SpireServer: .*caValidity/,
    ],
  ])('refuses %s', async (_, text, message) => {
    const { code, out, err } = await render(text);
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(message)]);
    expect(err).not.toContain('undefined');
  });

  it('never prints the connection string of a manifest that it refuses', async () => {
    const canary = 'postgres://spire:canary-4711@db/spire';
    for (const [type, text] of [
      ['oracle', canary],
      ['postgres', canary.padEnd(3000, 'x')],
    ]) {
      const { code, err } = await render(
        `${server}spec:\n  datastore: { databaseType: ${type}, connectionString: "${text}" }\n`,
      );
      expect([code, err]).toEqual([1, expect.not.stringContaining('canary-4711')]);
    }
  });
});
