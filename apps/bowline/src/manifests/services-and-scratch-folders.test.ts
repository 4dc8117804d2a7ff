import type { ConfigMap, Deployment, KubernetesObject, Service } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { resolveSettings } from '../config/settings.ts';
import { managerOptions } from '../manager/run-manager.ts';
import { hooks, hooksRegistry } from '../testing/hooks.test-support.ts';
import { findObject } from '../testing/manifests.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

const pod = { config: { server: 'https://10.0.0.1:443', namespace: 'own', source: 'pod' }, isPod: true };

/** manifests returns what `bowline manifests` prints for the operator. */
async function manifests(...args: readonly string[]) {
  const common = ['manifests', '--image', 'registry.example.com/bowline:1', '-o', 'json', '--operators', 'hooks'];
  const { out, err } = await bowline([...common, ...args], { registry: hooksRegistry });
  expect(err).toBe('');
  const { items } = JSON.parse(out) as { items: KubernetesObject[] };
  const spec = findObject<Deployment>(items, 'Deployment', 'bowline').spec?.template.spec;
  const text = findObject<ConfigMap>(items, 'ConfigMap', 'bowline').data?.['bowline.yaml'] ?? '';
  return { items, spec, container: spec?.containers[0], config: parse(text) as Readonly<Record<string, unknown>> };
}

const servicesIn = (items: readonly KubernetesObject[]) =>
  items.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata?.name);

describe('bowline manifests', () => {
  it('prints the port of a service, and a Service for it, as the settings require', async () => {
    const { items, container } = await manifests();
    expect(container?.ports?.at(-1)).toEqual({ containerPort: 8443, protocol: 'TCP' });
    const service = findObject<Service>(items, 'Service', 'hooks-receiver');
    expect(service.metadata?.labels).toMatchObject({
      'app.kubernetes.io/name': 'hooks',
      'bowline.dev/installed-in': 'bowline-system',
      'bowline.dev/part': 'operator',
    });
    expect(service.spec).toEqual({
      selector: { 'app.kubernetes.io/name': 'bowline', 'app.kubernetes.io/part-of': 'bowline' },
      ports: [{ name: 'receiver', port: 8443, targetPort: 8443, protocol: 'TCP' }],
    });

    const other = await manifests('--hook-port', '9000');
    expect(findObject<Service>(other.items, 'Service', 'hooks-receiver').spec?.ports?.[0]?.port).toBe(9000);
    const none = await manifests('--hook-port', '0');
    expect(servicesIn(none.items)).toEqual(['bowline-metrics']);
    expect(none.container?.ports).toHaveLength(2);
  });

  it.each([
    [['--hook-port', '8080'], /receiver of hooks listens on port 8080, which is also that of the metrics address/],
    [
      ['--operators', 'hooks,twin'],
      /receiver of twin listens on port 8443, .* the service receiver of hooks: .*--per-/,
    ],
  ])('refuses a port that is used twice, with %j', async (args, message) => {
    const given = ['manifests', '--image', 'img:1', '--operators', 'hooks', ...args];
    const { code, err } = await bowline(given, { registry: hooksRegistry });
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });

  it('allows two operators the same port in Deployments of their own', async () => {
    const given = ['manifests', '--image', 'img:1', '--operators', 'hooks,twin', '--per-operator', '-o', 'json'];
    const { out } = await bowline(given, { registry: hooksRegistry });
    const { items } = JSON.parse(out) as { items: KubernetesObject[] };
    expect(servicesIn(items)).toEqual(expect.arrayContaining(['hooks-receiver', 'twin-receiver']));
    expect(findObject<Service>(items, 'Service', 'twin-receiver').spec?.selector).toMatchObject({
      'app.kubernetes.io/name': 'bowline-twin',
    });
  });

  it('mounts an empty volume with a size limit as scratch folder, and passes its path and the image to the manager', async () => {
    const { spec, container, config } = await manifests('--max-megabytes', '100');
    expect(spec?.volumes?.slice(1)).toEqual([{ name: 'scratch-hooks', emptyDir: { sizeLimit: '100M' } }]);
    expect(container?.volumeMounts?.slice(1)).toEqual([{ name: 'scratch-hooks', mountPath: '/var/lib/bowline/hooks' }]);
    expect(container?.securityContext?.readOnlyRootFilesystem).toBe(true);
    // What the manager in the pod makes of the configuration.
    const file = { path: 'bowline.yaml', value: config, lineOf: () => undefined };
    const { manager } = resolveSettings({ file, operators: [hooks], known: ['hooks'] });
    expect(managerOptions(manager, pod)).toMatchObject({
      scratchFolder: '/var/lib/bowline',
      image: 'registry.example.com/bowline:1',
    });
  });

  it('mounts the scratch folder where the setting says', async () => {
    const { container, config } = await manifests('--scratch-folder', '/scratch');
    expect(config.scratchFolder).toBe('/scratch');
    expect(container?.volumeMounts?.at(-1)?.mountPath).toBe('/scratch/hooks');
  });
});
