import type {
  ClusterRole,
  ConfigMap,
  Deployment,
  KubernetesObject,
  Role,
  RoleBinding,
  Service,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { findObject, manifests } from '../testing/manifests.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

const idOf = ({ kind, metadata }: KubernetesObject): string =>
  [kind, ...(metadata?.namespace ? [metadata.namespace] : []), metadata?.name].join('/');

describe('bowline manifests', () => {
  it('grants the permissions that the settings require, and no others', async () => {
    const verbsWith = async (...args: readonly string[]) => {
      const objects = await manifests('--operators', 'sticker', ...args);
      const { rules } = findObject<ClusterRole>(objects, 'ClusterRole', 'bowline-sticker');
      return rules?.find(({ resources }) => resources?.includes('configmaps'))?.verbs;
    };
    expect(await verbsWith()).toEqual(['get', 'list', 'watch']);
    expect(await verbsWith('--glue', 'strong')).toEqual(['get', 'list', 'watch', 'delete']);
  });

  it('prints one Deployment with the permissions of all operators, in an order that can be applied', async () => {
    const objects = await manifests('--operators', 'sticker,badge', '--max-things', '4');
    expect(objects.map(idOf)).toEqual([
      'Namespace/bowline-system',
      'CustomResourceDefinition/badges.cli.test.bowline.dev',
      'ServiceAccount/bowline-system/bowline',
      'ClusterRole/bowline-metrics-auth',
      'ClusterRoleBinding/bowline-metrics-auth',
      'ClusterRole/bowline-metrics-reader',
      ...['badge', 'sticker'].flatMap((name) => [
        `ClusterRole/bowline-${name}`,
        `ClusterRoleBinding/bowline-${name}`,
        `Role/bowline-system/bowline-${name}`,
        `RoleBinding/bowline-system/bowline-${name}`,
      ]),
      'ConfigMap/bowline-system/bowline',
      'Service/bowline-system/bowline-metrics',
      'Service/bowline-system/badge-webhook',
      'Deployment/bowline-system/bowline',
      'PodDisruptionBudget/bowline-system/bowline',
      'ValidatingWebhookConfiguration/bowline-badge',
    ]);
    expect(parse(findObject<ConfigMap>(objects, 'ConfigMap', 'bowline').data?.['bowline.yaml'] ?? '')).toEqual({
      operators: ['badge', 'sticker'],
      metrics: { secure: true },
      badge: { maxThings: 4 },
      install: { image: 'img:1' },
    });
    const { spec } = findObject<Deployment>(objects, 'Deployment', 'bowline');
    expect(spec?.replicas).toBe(2);
    expect(spec?.template.spec).toMatchObject({
      serviceAccountName: 'bowline',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          image: 'img:1',
          args: ['run', '--config', '/etc/bowline/bowline.yaml'],
          securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        },
      ],
    });
  });

  it('prints the companions of operators for administrators, before the Deployment that relies on them', async () => {
    const isCompanion = ({ metadata }: KubernetesObject) => metadata?.labels?.['bowline.dev/companion'] !== undefined;
    const objects = await manifests('--operators', 'scans', '--namespace', 'here');
    expect(objects.filter(isCompanion).map(idOf)).toEqual([
      'ClusterRole/bowline-scans-here-scanner',
      'NetworkPolicy/here/bowline-scans-here-agents',
      'ValidatingAdmissionPolicy/bowline-scans-here-reports',
      'ValidatingAdmissionPolicyBinding/bowline-scans-here-reports',
    ]);
    expect(objects.findLastIndex(isCompanion)).toBeLessThan(objects.findIndex(({ kind }) => kind === 'Deployment'));
    const role = findObject<ClusterRole>(objects, 'ClusterRole', 'bowline-scans-here-scanner');
    expect(role.metadata?.labels).toEqual({
      'app.kubernetes.io/name': 'scans',
      'app.kubernetes.io/part-of': 'bowline',
      'bowline.dev/companion': 'scanner',
      'bowline.dev/installed-in': 'here',
      'bowline.dev/part': 'admin',
    });

    const { rules = [] } = findObject<ClusterRole>(objects, 'ClusterRole', 'bowline-scans-here');
    expect(rules.filter(({ apiGroups }) => apiGroups?.includes('rbac.authorization.k8s.io'))).toEqual([
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterroles'],
        resourceNames: ['bowline-scans-here-scanner'],
        verbs: ['bind'],
      },
    ]);

    expect((await manifests('--operators', 'scans', '--part', 'operator')).filter(isCompanion)).toEqual([]);
    const unguarded = await manifests('--operators', 'scans', '--guarded=false', '--part', 'admin');
    expect(unguarded.map(({ kind }) => kind)).not.toContain('ValidatingAdmissionPolicy');
    const limited = await manifests('--operators', 'scans', '--namespaces', 'a,b');
    expect(findObject(limited, 'ValidatingAdmissionPolicyBinding', 'bowline-scans-reports')).toMatchObject({
      spec: { matchResources: { namespaceSelector: { matchExpressions: [{ operator: 'In', values: ['a', 'b'] }] } } },
    });
  });

  it('prints a Deployment and an account for each operator', async () => {
    const objects = await manifests('--operators', 'badge,sticker', '--per-operator', '--metrics-secure=false');
    expect(objects.filter(({ kind }) => kind === 'Deployment').map(idOf)).toEqual([
      'Deployment/bowline-system/bowline-badge',
      'Deployment/bowline-system/bowline-sticker',
    ]);
    const binding = findObject<RoleBinding>(objects, 'RoleBinding', 'bowline-sticker');
    expect(binding.subjects).toEqual([
      { kind: 'ServiceAccount', name: 'bowline-sticker', namespace: 'bowline-system' },
    ]);
    const config = findObject<ConfigMap>(objects, 'ConfigMap', 'bowline-sticker').data?.['bowline.yaml'] ?? '';
    expect(parse(config)).toEqual({
      operators: ['sticker'],
      metrics: { secure: false },
      install: { image: 'img:1' },
    });
    expect(findObject<Service>(objects, 'Service', 'badge-webhook').spec?.selector).toMatchObject({
      'app.kubernetes.io/name': 'bowline-badge',
    });
  });

  it('grants no cluster-wide permissions when limited to namespaces, except by name', async () => {
    const objects = await manifests('--operators', 'badge', '--namespaces', 'b,a', '--namespace', 'team');
    const clusterRoles = objects.filter(({ kind }) => kind === 'ClusterRole') as ClusterRole[];
    expect(clusterRoles.flatMap(({ rules = [] }) => rules)).toEqual([
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingwebhookconfigurations'],
        resourceNames: ['bowline-badge-team'],
        verbs: ['get', 'list', 'watch', 'patch'],
      },
    ]);
    const roles = objects.filter(({ kind }) => kind === 'Role') as Role[];
    expect(roles.map(({ metadata }) => metadata?.namespace)).toEqual(['a', 'b', 'team']);
    expect(roles[0]?.rules).toEqual(roles[1]?.rules);
    const { webhooks = [] } = findObject<ValidatingWebhookConfiguration>(
      objects,
      'ValidatingWebhookConfiguration',
      'bowline-badge-team',
    );
    expect(webhooks[0]?.namespaceSelector?.matchExpressions?.[0]).toMatchObject({ operator: 'In', values: ['a', 'b'] });
    expect(parse(findObject<ConfigMap>(objects, 'ConfigMap', 'bowline').data?.['bowline.yaml'] ?? '')).toEqual({
      operators: ['badge'],
      namespaces: ['b', 'a'],
      install: { image: 'img:1' },
    });
  });

  it('separates the objects that an administrator applies from the rest', async () => {
    const args = ['--operators', 'badge', '--namespaces', 'a'];
    const all = await manifests(...args);
    const admin = await manifests(...args, '--part', 'admin');
    const operator = await manifests(...args, '--part', 'operator');
    expect([...admin, ...operator].map(idOf).sort()).toEqual(all.map(idOf).sort());
    expect(admin.every(({ metadata }) => metadata?.namespace === undefined)).toBe(true);
    expect(operator.every(({ metadata }) => metadata?.namespace !== undefined)).toBe(true);
  });

  it('does not print a namespace that operators work in', async () => {
    const objects = await manifests('--operators', 'badge', '--namespaces', 'a,team', '--namespace', 'team');
    expect(objects.some(({ kind }) => kind === 'Namespace')).toBe(false);
  });

  it('runs one replica at a time without leader election', async () => {
    const objects = await manifests('--operators', 'badge', '--leader-elect=false');
    const { spec } = findObject<Deployment>(objects, 'Deployment', 'bowline');
    expect([spec?.replicas, spec?.strategy?.type]).toEqual([1, 'Recreate']);
    expect(objects.some(({ kind }) => kind === 'PodDisruptionBudget')).toBe(false);
  });

  it('prints the same text for the same arguments, and YAML equal to the JSON', async () => {
    const args = ['manifests', '--operators', 'badge,sticker', '--image', 'img:1'];
    const { out } = await bowline(args);
    expect((await bowline(args)).out).toBe(out);
    // The version that kubectl reads.
    const documents = parseAllDocuments(out, { version: '1.1' }).map((document) => document.toJS() as unknown);
    expect(documents).toEqual(await manifests('--operators', 'badge,sticker'));
  });

  it('prints kind, namespace and name of the objects as a table', async () => {
    const args = ['--operators', 'badge', '--image', 'img:1'];
    const { out } = await bowline(['manifests', ...args, '-o', 'table']);
    const [header, ...rows] = out.trimEnd().split('\n');
    expect(header).toMatch(/^KIND +NAMESPACE +NAME$/);
    expect(rows.map((row) => row.split(/ +/).join('/'))).toEqual((await manifests(...args)).map(idOf));
    const [namespace, name] = [header?.indexOf('NAMESPACE'), header?.lastIndexOf(' NAME') ?? 0];
    expect(rows.find((row) => row.startsWith('Deployment'))?.indexOf('bowline-system')).toBe(namespace);
    expect(rows.every((row) => row[name] === ' ' && row[name + 1] !== ' ')).toBe(true);
  });

  it.each<[readonly string[], RegExp]>([
    [['--operators', 'badge'], /needs an image for the Deployment bowline: set --image.*IMAGE_MISSING/],
    [['--operators', 'badge', '--image', 'x', '--part', 'mine'], /Allowed choices are admin, operator, all/],
    [['--image', 'x'], /no operators are selected/],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, out, err } = await bowline(['manifests', ...args]);
    expect(err).toMatch(message);
    expect([code, out]).toEqual([2, '']);
  });

  it('needs no image for the objects that an administrator applies', async () => {
    const { code, out } = await bowline(['manifests', '--operators', 'badge', '--part', 'admin']);
    expect(code).toBe(0);
    expect(out).not.toContain('kind: Deployment');
  });
});

describe('bowline crds', () => {
  it('prints the definitions of all operators, or of some', async () => {
    const { out } = await bowline(['crds']);
    expect(out).toContain('name: badges.cli.test.bowline.dev');
    expect((await bowline(['crds', '--operators', 'badge', '-o', 'table'])).out).toMatch(
      /^KIND +NAMESPACE +NAME\nCustomResourceDefinition +badges\.cli\.test\.bowline\.dev\n$/,
    );
    const none = { code: 0, out: '', err: 'nothing to install: no CustomResourceDefinitions in sticker\n' };
    expect(await bowline(['crds', '--operators', 'sticker'])).toEqual(none);
    const unknown = await bowline(['crds', '--operators', 'x']);
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('unknown operator "x"')]);
  });
});
