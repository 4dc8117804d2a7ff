import { seededRandom, VirtualClock } from '@bowline/machinery';
import { permissionsOf, withConfig, withinNamespaces } from '@bowline/runtime/install';
import { createLog, createMetrics } from '@bowline/runtime/manager';
import { describe, expect, it } from 'vitest';
import { config } from './config.ts';
import { jasm } from './operator.ts';
import { configOf } from './testing/config-of.test-support.ts';

/** rightsOn returns the cluster-wide verbs on a resource. */
async function rightsOn(resource: string, config: Readonly<Record<string, unknown>> = {}): Promise<readonly string[]> {
  const { cluster } = permissionsOf(await withConfig(jasm, { allowAllPaths: true, ...config }));
  return cluster.filter(({ resources }) => resources?.includes(resource)).flatMap(({ verbs }) => verbs);
}

describe('the permissions of the operator', () => {
  it('do not include deleting Secrets unless deletion is allowed', async () => {
    expect(await rightsOn('secrets')).toEqual(['get', 'list', 'watch', 'create', 'patch']);
    expect(await rightsOn('secrets', { allowDeletion: true })).toContain('delete');
  });

  it.each(['deployments', 'statefulsets', 'daemonsets'])(
    'do not include %s unless restarts are allowed',
    async (kind) => {
      expect(await rightsOn(kind)).toEqual([]);
      expect(await rightsOn(kind, { restart: true })).toEqual([]);
      expect(await rightsOn(kind, { allowRestart: true })).toEqual(['get', 'patch']);
    },
  );

  it('include reading but not writing pods and namespaces', async () => {
    expect(await rightsOn('pods')).toEqual(['get', 'list', 'watch']);
    expect(await rightsOn('namespaces')).toEqual(['get', 'list', 'watch']);
  });

  it('include no cluster-wide permission if the operator is restricted to namespaces', async () => {
    const { cluster, namespaces } = permissionsOf(withinNamespaces(await withConfig(jasm, { policy: [] }), ['shop']));
    expect(cluster).toEqual([]);
    expect(namespaces.shop?.flatMap(({ resources = [] }) => resources)).toEqual(['pods', 'secrets', 'events']);
  });
});

/** setUp sets up the operator without a cluster, which it does not need before it runs. It returns the log messages. */
function setUp(section: object, namespaces?: readonly string[]): readonly string[] {
  const stop = new AbortController();
  const lines: string[] = [];
  const context = {
    config: configOf(config, section),
    namespaces,
    clock: new VirtualClock(),
    random: seededRandom(1),
    log: createLog({ destination: { write: (line) => void lines.push(line) } }),
    metrics: createMetrics({ process: false }),
    signal: stop.signal,
  };
  jasm.setup?.(context as never);
  stop.abort();
  return lines;
}

describe('the start of the operator', () => {
  it('fails if a rule names an unknown provider', () => {
    const policy = [{ namespaces: ['**'], provider: 'valt', paths: ['**'] }];
    expect(() => setUp({ policy })).toThrow(
      'jasm.policy[0].provider: unknown provider "valt"; supported providers: aws-secretsmanager, vault, azure-keyvault, kubernetes',
    );
  });

  it('warns if annotations of namespaces cannot be read and therefore have no effect', () => {
    expect(setUp({ policy: [] }, ['shop'])).toEqual([
      expect.stringMatching(/"level":"warn".*jasm\.codnod\.io\/permitted-paths .* have no effect/) as string,
    ]);
    expect(setUp({ policy: [] })).toEqual([]);
    // There, everything is refused, with a message that gives the reason.
    expect(setUp({ policy: [], permittedPathsRequired: true }, ['shop'])).toEqual([]);
  });
});
