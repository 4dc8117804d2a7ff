import { startControlPlane } from '@bowline/control-plane';
import { ConfigMap, DaemonSet, Lease, Node, Pod } from '@bowline/kubernetes';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startDiscovery, verifiedClaims } from '../../../../test/support/spire/discovery-client.ts';
import { runSpire, type Spire } from '../../../../test/support/spire/run-spire.ts';
import { type SpirePrograms, spirePrograms } from '../../../../test/support/spire/spire-programs.ts';
import { fetchJwt, untilX509 } from '../../../../test/support/spire/workload-api.ts';
import { AGENT_HASH } from '../agent/agent-daemon-set.ts';
import { SINGLETON } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { AGENT, LEADER_ELECTION } from '../spire/names.ts';
import { fileHash } from '../spire/rendered-file.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { ClusterStaticEntry } from '../third-party/cluster-static-entry.ts';

let skippedBecause: string | undefined;
let programs: SpirePrograms;

beforeAll(async () => {
  const found = await spirePrograms();
  if ('skippedBecause' in found) skippedBecause = found.skippedBecause;
  else programs = found.programs;
}, 3_600_000);
beforeEach((context) => {
  if (skippedBecause !== undefined) context.skip(skippedBecause);
});

const CLASS_NAME = 'zero-trust-workload-identity-manager-spire';
/** The operator looks at the bundle this often while it waits. */
const POLL_MS = 2_000;

describe.each(['kubernetes', 'embedded'] as const)('SPIRE as it is rendered, on the %s control plane', (kind) => {
  it('scenario 54 to 57 gives a workload identities, also after its trust domain and cluster name have changed', async () => {
    await using embedded = kind === 'embedded' ? await startControlPlane({ kind }) : undefined;
    await using c = await ztwimCluster(embedded ? { controlPlane: embedded } : {});
    await using spire = await runSpire(programs);
    const chain = new Chain(c, spire);
    await c.createAll();
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');

    await chain.startServer();
    const firstBundle = await chain.untilBundle(() => true);
    await chain.startAgent();
    expect(await chain.identity('example.io', 'prod')).toBe('URI:spiffe://example.io/workload');

    const discovery = await startDiscovery(
      spire,
      await chain.file('spire-spiffe-oidc-discovery-provider', 'oidc-discovery-provider.conf'),
      COMPLETE.jwtIssuer,
    );
    const [jwt] = await fetchJwt(spire, 'a-client');
    expect(verifiedClaims(jwt?.token ?? '', await discovery.get('/keys'))).toMatchObject({
      sub: 'spiffe://example.io/workload',
      iss: COMPLETE.jwtIssuer,
    });

    await chain.change({ trustDomain: 'other.io' });
    await chain.untilFile('spire-server', 'server.conf', '"trust_domain": "other.io"');
    await chain.startServer();
    await chain.untilBundle((pem) => pem !== firstBundle);
    await chain.untilFile('spire-agent', 'agent.conf', '"trust_domain": "other.io"');
    await chain.startAgent();
    expect(await chain.identity('other.io', 'prod')).toBe('URI:spiffe://other.io/workload');

    await chain.change({ trustDomain: 'example.io' });
    await chain.untilFile('spire-server', 'server.conf', '"trust_domain": "example.io"');
    await chain.startServer();
    // The old files are used again, and with them the old CA.
    await chain.untilBundle((pem) => pem === firstBundle);
    await chain.untilFile('spire-agent', 'agent.conf', '"trust_domain": "example.io"');

    await chain.change({ clusterName: 'staging' });
    await chain.untilFile('spire-server', 'server.conf', '"staging"');
    await chain.untilFile('spire-agent', 'agent.conf', '"staging"');
    await chain.startServer();
    await chain.startAgent();
    expect(await chain.identity('example.io', 'staging')).toBe('URI:spiffe://example.io/workload');
    await expect.poll(() => chain.entryPrefixes(), { timeout: 60_000, interval: 500 }).toEqual(['staging']);
  }, 300_000);
});

/** Chain runs SPIRE with what the operator rendered. */
class Chain {
  readonly #c: ZtwimCluster;
  readonly #spire: Spire;
  #server: AsyncDisposable | undefined;
  #manager: AsyncDisposable | undefined;
  #agent: AsyncDisposable | undefined;
  /** The pod whose token the agent has. */
  #pod: Pod | undefined;

  constructor(c: ZtwimCluster, spire: Spire) {
    this.#c = c;
    this.#spire = spire;
  }

  async file(name: string, key: string): Promise<string> {
    return (await this.#c.admin.get(ConfigMap, { namespace: OPERANDS, name })).data?.[key] ?? '';
  }

  async change(spec: object): Promise<void> {
    await this.#c.clock.advance(POLL_MS);
    await this.#c.admin.patch(ZeroTrustWorkloadIdentityManager, { name: SINGLETON }, { type: 'merge', body: { spec } });
  }

  /** Time passes until the operator has rendered a text. */
  async untilFile(name: string, key: string, text: string): Promise<void> {
    await expect
      .poll(
        async () => {
          await this.#c.clock.advance(POLL_MS);
          return (await this.file(name, key)).includes(text);
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBe(true);
  }

  async untilBundle(test: (pem: string) => boolean): Promise<string> {
    const { data } = await this.#c.until(ConfigMap, { namespace: OPERANDS, name: 'spire-bundle' }, (bundle) => {
      const pem = bundle.data?.['bundle.crt'];
      return Boolean(pem) && test(pem ?? '');
    });
    const pem = data?.['bundle.crt'] ?? '';
    await this.#spire.writeBundle(pem);
    return pem;
  }

  /** startServer starts server and controller manager, or restarts them, as a rollout does. */
  async startServer(): Promise<void> {
    await this.#manager?.[Symbol.asyncDispose]();
    await this.#server?.[Symbol.asyncDispose]();
    const account = await this.#c.kubeconfig({ serviceAccount: { namespace: OPERANDS, name: 'spire-server' } });
    this.#server = await this.#spire.startServer(await this.file('spire-server', 'server.conf'), account);
    // The last one does not release it when it ends.
    await this.#c.admin.delete(Lease, { namespace: OPERANDS, name: LEADER_ELECTION }).catch(() => undefined);
    const config = await this.file('spire-controller-manager', 'controller-manager-config.yaml');
    this.#manager = await this.#spire.startControllerManager(config, account);
  }

  /** startAgent starts the agent with the token that a kubelet mounts into its pod, or restarts it. */
  async startAgent(): Promise<void> {
    await this.#agent?.[Symbol.asyncDispose]();
    await this.#untilRolledOut();
    this.#pod = await this.#agentPod();
    const { metadata } = this.#pod;
    const { token } = await this.#c.admin.requestToken(
      { namespace: OPERANDS, name: 'spire-agent' },
      {
        audiences: ['spire-server'],
        expirationSeconds: 7200,
        boundObject: { apiVersion: 'v1', kind: 'Pod', name: metadata?.name ?? '', uid: metadata?.uid ?? '' },
      },
    );
    this.#agent = await this.#spire.startAgent(await this.file('spire-agent', 'agent.conf'), token);
  }

  /** The pods of agents are replaced when their file changes, and with a pod its token ends. */
  async #untilRolledOut(): Promise<void> {
    const hash = fileHash(await this.file('spire-agent', 'agent.conf'));
    const isRolledOut = async (): Promise<boolean> => {
      await this.#c.clock.advance(POLL_MS);
      const { metadata, spec, status } = await this.#c.admin.get(DaemonSet, { namespace: OPERANDS, name: AGENT });
      const { desiredNumberScheduled, updatedNumberScheduled, numberAvailable, observedGeneration } = status ?? {};
      return (
        spec?.template.metadata?.annotations?.[AGENT_HASH] === hash &&
        observedGeneration === metadata?.generation &&
        updatedNumberScheduled === desiredNumberScheduled &&
        numberAvailable === desiredNumberScheduled
      );
    };
    await expect.poll(isRolledOut, { timeout: 60_000, interval: 200 }).toBe(true);
  }

  async #agentPod(): Promise<Pod> {
    const labelSelector = 'app.kubernetes.io/name=spire-agent';
    const isRunning = ({ metadata, spec }: Pod): boolean =>
      spec?.nodeName !== undefined && metadata?.deletionTimestamp === undefined;
    const pods = await this.#c.untilList(Pod, { namespace: OPERANDS, labelSelector }, (found) => found.some(isRunning));
    return pods.find(isRunning) as Pod;
  }

  /** identity registers the test as a workload, and returns the name in its certificate. */
  async identity(trustDomain: string, clusterName: string): Promise<string | undefined> {
    const node = await this.#c.admin.get(Node, { name: this.#pod?.spec?.nodeName ?? '' });
    const spiffeID = `spiffe://${trustDomain}/workload`;
    const entry = {
      className: CLASS_NAME,
      spiffeID,
      parentID: `spiffe://${trustDomain}/spire/agent/k8s_psat/${clusterName}/${node.metadata?.uid}`,
      selectors: [`unix:uid:${process.getuid?.()}`],
    };
    await this.#c.admin.delete(ClusterStaticEntry, { name: 'workload' }).catch(() => undefined);
    await this.#c.admin.create(ClusterStaticEntry, { metadata: { name: 'workload' }, spec: entry });
    const { certificate } = await untilX509(this.#spire, spiffeID);
    return certificate.subjectAltName;
  }

  /** entryPrefixes returns the names of the clusters that registered entries belong to. */
  async entryPrefixes(): Promise<readonly string[]> {
    const { entries } = (await this.#spire.runServerCommand(['entry', 'show'])) as {
      readonly entries: readonly { readonly id: string }[];
    };
    return [...new Set(entries.map(({ id }) => id.split('.', 1)[0] ?? ''))].sort();
  }
}
