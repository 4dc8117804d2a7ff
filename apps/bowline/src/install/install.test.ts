import type { ConfigMap, Deployment, KubernetesObject, ServiceAccount } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Files, temporaryFiles } from '../testing/child-process.test-support.ts';
import { findObject, manifests } from '../testing/manifests.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

let files: Files;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files[Symbol.asyncDispose]());

const EVERYTHING = `
operators: [badge]
install:
  image: registry.example.com/bowline:1
  imagePullPolicy: Always
  imagePullSecrets: [{ name: registry }]
  replicas: 3
  serviceAccount:
    annotations: { eks.amazonaws.com/role-arn: 'arn:aws:iam::123456789012:role/bowline' }
    labels: { team: platform }
  podLabels: { azure.workload.identity/use: 'true' }
  podAnnotations: { example.com/scrape: 'yes' }
  env:
    - { name: REGION, value: eu-central-1 }
    - { name: TOKEN, valueFrom: { secretKeyRef: { name: store, key: token } } }
    - { name: ZONE, valueFrom: { configMapKeyRef: { name: place, key: zone, optional: true } } }
    - { name: NODE, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }
    - { name: LIMIT, valueFrom: { resourceFieldRef: { resource: limits.memory, divisor: 1Mi } } }
  envFrom: [{ prefix: STORE_, secretRef: { name: store } }]
  volumes:
    - { name: ca, configMap: { name: store-ca } }
    - { name: socket, hostPath: { path: /run/pkcs11, type: Directory } }
    - name: token
      projected: { sources: [{ serviceAccountToken: { path: token, audience: vault, expirationSeconds: 3600 } }] }
    - { name: tmp, emptyDir: { medium: Memory, sizeLimit: 16Mi } }
  volumeMounts:
    - { name: ca, mountPath: /etc/store, readOnly: true }
    - { name: socket, mountPath: /run/pkcs11 }
    - { name: token, mountPath: /var/run/vault, readOnly: true }
    - { name: tmp, mountPath: /tmp }
  resources: { requests: { cpu: 1 }, limits: { memory: 1Gi } }
  podSecurityContext: { fsGroup: 2000, supplementalGroups: [3000] }
  nodeSelector: { kubernetes.io/os: linux }
  tolerations: [{ key: dedicated, operator: Equal, value: platform, effect: NoSchedule }]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{ matchExpressions: [{ key: hsm, operator: Exists }] }]
  topologySpreadConstraints:
    - { maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule }
  priorityClassName: system-cluster-critical
`;

function deploymentOf(objects: readonly KubernetesObject[], name = 'bowline') {
  const { spec } = findObject<Deployment>(objects, 'Deployment', name);
  const pod = spec?.template.spec;
  return { replicas: spec?.replicas, metadata: spec?.template.metadata, pod, container: pod?.containers[0] };
}

describe('the section install', () => {
  it('sets every field of the Deployment, its pods and its account', async () => {
    const path = await files.write('everything.yaml', EVERYTHING);
    const { code, out, err } = await bowline(['manifests', '--config', path, '-o', 'json']);
    expect([code, err]).toEqual([0, '']);
    const { items } = JSON.parse(out) as { items: KubernetesObject[] };
    const { install } = parse(EVERYTHING) as { readonly install: Readonly<Record<string, object>> };

    const account = findObject<ServiceAccount>(items, 'ServiceAccount', 'bowline');
    expect(account.metadata?.annotations).toEqual({
      'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/bowline',
    });
    expect(account.metadata?.labels).toMatchObject({ team: 'platform', 'app.kubernetes.io/part-of': 'bowline' });

    const { replicas, metadata, pod, container } = deploymentOf(items);
    expect(replicas).toBe(3);
    expect(metadata?.labels).toEqual({
      'azure.workload.identity/use': 'true',
      'app.kubernetes.io/name': 'bowline',
      'app.kubernetes.io/part-of': 'bowline',
    });
    expect(metadata?.annotations).toMatchObject({
      'example.com/scrape': 'yes',
      'bowline.dev/config-hash': expect.any(String),
    });
    expect(container).toMatchObject({
      image: 'registry.example.com/bowline:1',
      imagePullPolicy: 'Always',
      env: install.env,
      envFrom: install.envFrom,
      resources: { requests: { cpu: '1', memory: '96Mi' }, limits: { memory: '1Gi' } },
    });
    expect(container?.volumeMounts?.slice(1)).toEqual(install.volumeMounts);
    expect(pod?.volumes?.slice(1)).toEqual(install.volumes);
    expect(pod).toMatchObject({
      imagePullSecrets: install.imagePullSecrets,
      nodeSelector: install.nodeSelector,
      tolerations: install.tolerations,
      affinity: install.affinity,
      priorityClassName: 'system-cluster-critical',
      securityContext: { runAsNonRoot: true, fsGroup: 2000, supplementalGroups: [3000] },
    });
    expect(pod?.topologySpreadConstraints).toEqual([
      {
        labelSelector: {
          matchLabels: { 'app.kubernetes.io/name': 'bowline', 'app.kubernetes.io/part-of': 'bowline' },
        },
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
      },
    ]);
    // A running manager uses only the image, and would be replaced for every change of the rest.
    const config = findObject<ConfigMap>(items, 'ConfigMap', 'bowline').data?.['bowline.yaml'] ?? '';
    expect(parse(config)).toMatchObject({ install: { image: 'registry.example.com/bowline:1' } });
    expect(config).not.toContain('imagePullPolicy');
  });

  it('gives each Deployment the fields for all and those of its operator', async () => {
    const path = await files.write(
      'per-operator.yaml',
      `
operators: [badge, sticker]
install:
  perOperator: true
  image: img:all
  podLabels: { team: platform, tier: a }
  env: [{ name: A, value: all }, { name: B, value: all }]
  tolerations: [{ key: a, operator: Exists }]
  operators:
    badge:
      image: img:badge
      serviceAccount: { annotations: { azure.workload.identity/client-id: id } }
      podLabels: { tier: b }
      env: [{ name: B, value: badge }]
      tolerations: [{ key: b, operator: Exists }]
`,
    );
    const objects = await manifests('--config', path);
    const badge = deploymentOf(objects, 'bowline-badge');
    const sticker = deploymentOf(objects, 'bowline-sticker');
    expect(badge.metadata?.labels).toMatchObject({ team: 'platform', tier: 'b' });
    expect(sticker.metadata?.labels).toMatchObject({ team: 'platform', tier: 'a' });
    const all = { name: 'A', value: 'all' };
    expect(badge.container?.env).toEqual([all, { name: 'B', value: 'badge' }]);
    expect(sticker.container?.env).toEqual([all, { name: 'B', value: 'all' }]);
    expect(badge.pod?.tolerations?.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(sticker.pod?.tolerations?.map(({ key }) => key)).toEqual(['a']);
    const annotationsOf = (name: string) =>
      findObject<ServiceAccount>(objects, 'ServiceAccount', name).metadata?.annotations;
    expect(annotationsOf('bowline-badge')).toEqual({ 'azure.workload.identity/client-id': 'id' });
    expect(annotationsOf('bowline-sticker')).toBeUndefined();

    const { out } = await bowline(['manifests', '-o', 'json', '--config', path]);
    const separate = (JSON.parse(out) as { items: KubernetesObject[] }).items;
    // Each pod reads the image that it runs from.
    const configOf = (name: string): unknown =>
      parse(findObject<ConfigMap>(separate, 'ConfigMap', name).data?.['bowline.yaml'] ?? '');
    expect(configOf('bowline-badge')).toMatchObject({ install: { image: 'img:badge' } });
    expect(configOf('bowline-sticker')).toMatchObject({ install: { image: 'img:all' } });

    // The same file with one Deployment for both: it has the fields of both.
    const shared = await manifests('--config', path, '--per-operator=false');
    expect(deploymentOf(shared).container?.env).toEqual([all, { name: 'B', value: 'badge' }]);
    expect(deploymentOf(shared).pod?.tolerations).toHaveLength(2);
  });

  it('is accepted and ignored by a running manager', async () => {
    const path = await files.write('run.yaml', EVERYTHING.replace('priorityClassName', 'priorityClasName'));
    const { code, err } = await bowline(['run', '--config', path]);
    expect([code, err]).toEqual([2, expect.stringContaining('did you mean priorityClassName?')]);
    const right = await files.write('run.yaml', EVERYTHING);
    const kubeconfig = await files.write('kubeconfig', '{}');
    // The settings are accepted: only the kubeconfig is refused.
    const accepted = await bowline(['run', '--config', right, '--kubeconfig', kubeconfig]);
    expect(accepted.err).toContain('BOWLINE_KUBECONFIG_INVALID');
  });
});

describe('flags of an install', () => {
  it('add to the file by key and name, and win over it', async () => {
    const path = await files.write(
      'flags.yaml',
      `
operators: [badge]
install:
  replicas: 2
  podLabels: { a: file, b: file }
  env: [{ name: A, value: file }, { name: B, value: file }]
  operators:
    badge: { podLabels: { c: operator } }
`,
    );
    const { replicas, metadata, pod, container } = deploymentOf(
      await manifests(
        ...['--config', path, '--replicas', '1', '--pod-label', 'b=flag', '--pod-label', 'c=flag'],
        ...['--env', 'B=x=y', '--env-from-secret', 'C=store/token', '--env-from-config-map', 'D=place/zone'],
        ...['--env-from-field', 'E=spec.nodeName', '--mount-secret', 'store.tls=/etc/store'],
        ...['--mount-config-map', 'ca=/etc/ca', '--request', 'cpu=1', '--limit', 'memory=1Gi', '--limit', 'cpu=2'],
        ...['--node-selector', 'kubernetes.io/os=linux', '--toleration', 'a=b:NoSchedule', '--toleration', 'c'],
        ...['--toleration', 'd:NoExecute', '--priority-class', 'high', '--image-pull-secret', 'one'],
        ...['--image-pull-secret', 'two', '--pod-annotation', 'x=y', '--image-pull-policy', 'Never'],
      ),
    );
    expect(replicas).toBe(1);
    expect(metadata?.labels).toMatchObject({ a: 'file', b: 'flag', c: 'flag' });
    expect(metadata?.annotations).toMatchObject({ x: 'y' });
    expect(container?.env).toEqual([
      { name: 'A', value: 'file' },
      { name: 'B', value: 'x=y' },
      { name: 'C', valueFrom: { secretKeyRef: { name: 'store', key: 'token' } } },
      { name: 'D', valueFrom: { configMapKeyRef: { name: 'place', key: 'zone' } } },
      { name: 'E', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    ]);
    expect(pod?.volumes?.slice(1)).toEqual([
      { name: 'secret-store-tls', secret: { secretName: 'store.tls' } },
      { name: 'configmap-ca', configMap: { name: 'ca' } },
    ]);
    expect(container?.volumeMounts?.slice(1)).toEqual([
      { name: 'secret-store-tls', mountPath: '/etc/store', readOnly: true },
      { name: 'configmap-ca', mountPath: '/etc/ca', readOnly: true },
    ]);
    expect(container?.resources).toEqual({
      requests: { cpu: '1', memory: '96Mi' },
      limits: { memory: '1Gi', cpu: '2' },
    });
    expect(container?.imagePullPolicy).toBe('Never');
    expect(pod).toMatchObject({
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      priorityClassName: 'high',
      imagePullSecrets: [{ name: 'one' }, { name: 'two' }],
      tolerations: [
        { key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' },
        { key: 'c', operator: 'Exists' },
        { key: 'd', operator: 'Exists', effect: 'NoExecute' },
      ],
    });
  });

  it.each<[readonly string[], RegExp]>([
    [['--env', 'A'], /'--env <NAME=value>' argument 'A' is invalid\. Expected NAME=value\./],
    [['--env', '1 A=x'], /install\.env\[0\]\.name: Invalid value: "1 A": .*should match/],
    [['--env-from-secret', 'A=b'], /Expected NAME=secret\/key\./],
    [['--toleration', 'a:Never'], /install\.tolerations\[0\]\.effect: Unsupported value: "Never"/],
    [['--replicas', 'two'], /Expected number\./],
    [['--request', 'cpu=much'], /install\.resources\.requests\.cpu: Invalid value: "much"/],
    [['--mount-secret', 'a=b'], /install\.volumeMounts\[0\]\.mountPath: Invalid value: "b": must be an absolute path/],
    [
      ['--replicas', '2', '--leader-elect=false'],
      /install\.replicas: Invalid value: 2: without leader election .* set it to 1/,
    ],
  ])('are rejected with exit code 2 and the expected form: %j', async (args, message) => {
    const { code, out, err } = await bowline(['manifests', '--operators', 'badge', '--image', 'x', ...args]);
    expect(err).toMatch(message);
    expect([code, out]).toEqual([2, '']);
  });
});

describe('an error in the section', () => {
  it.each<[string, RegExp]>([
    ['podLabel: { a: b }', /line 3: install\.podLabel: unknown setting \(did you mean podLabels\?\)/],
    ['env: [{ name: A, vale: x }]', /line 3: install\.env\[0\]\.vale: unknown setting \(did you mean value\?\)/],
    [
      'operators: { badge: { replica: 1 } }',
      /install\.operators\.badge\.replica: unknown setting \(did you mean replicas\?\)/,
    ],
    ['operators: { bagde: {} }', /install\.operators\.bagde: unknown operator \(did you mean badge\?\)/],
    ['replicas: two', /install\.replicas: Invalid value: "string": .*must be of type integer/],
    [
      'env: [{ name: A, value: x, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }]',
      /install\.env\[0\]\.valueFrom: Invalid value: may not be specified when `value` is not empty/,
    ],
    ['env: [{ name: A }, { name: A }]', /install\.env\[1\]: Duplicate value: /],
    ['volumes: [{ name: a }]', /install\.volumes\[0\]: .*exactly one of secret, configMap, .* must be set/],
    [
      'volumes: [{ name: config, emptyDir: {} }]',
      /install\.volumes\[0\]\.name: .*is the name of the volume with bowline/,
    ],
    [
      'volumeMounts: [{ name: a, mountPath: /a }]',
      /install\.volumeMounts: Not found: "a": the mount \/a needs a volume/,
    ],
    [
      'podLabels: { app.kubernetes.io/name: x }',
      /install\.podLabels: .*select the pods and cannot be set; remove them/,
    ],
    ['podAnnotations: { "a b": x }', /install\.podAnnotations: .*keys must consist of alphanumeric characters/],
    ['tolerations: [{ key: a, tolerationSeconds: 3 }]', /effect must be 'NoExecute' when `tolerationSeconds` is set/],
    [
      'operators: { badge: { replicas: 2 }, sticker: { replicas: 3 } }',
      /install\.operators\.badge\.replicas and install\.operators\.sticker\.replicas differ, .*--per-operator/,
    ],
    [
      'operators: { badge: { env: [{ name: A, value: b }] }, sticker: { env: [{ name: A, value: c }] } }',
      /install\.operators\.badge\.env\[A\] and install\.operators\.sticker\.env\[A\] differ/,
    ],
  ])('is reported with its field and the expected value: %s', async (text, message) => {
    const path = await files.write('wrong.yaml', `operators: [badge, sticker]\ninstall:\n  ${text}\n`);
    const { code, out, err } = await bowline(['manifests', '--image', 'x', '--config', path]);
    expect(err).toMatch(message);
    expect([code, out]).toEqual([2, '']);
  });
});
