import { describe, expect, it } from 'vitest';
import { agentObjects } from '../agent/agent-objects.ts';
import { csiObjects } from '../csi/csi-objects.ts';
import { oidcObjects } from '../oidc/oidc-objects.ts';
import { serverObjects } from '../server/server-objects.ts';
import { templateOf } from '../testing/rendered.test-support.ts';
import {
  type ServerSpec,
  type SharedSpec,
  sampleAgent,
  sampleCsi,
  sampleOidc,
  sampleServer,
} from '../testing/sample-inputs.test-support.ts';
import { PODS } from '../testing/variants.test-support.ts';

const podOf = (shared: SharedSpec, spec: ServerSpec = {}) =>
  templateOf(serverObjects(sampleServer({ shared, spec }))).spec;

const toleration = (key: string) => [{ key, operator: 'Exists' }];
const nodeAffinity = (key: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }],
    },
  },
});

describe('podTemplate', () => {
  it.each<[string, SharedSpec, ServerSpec, object]>([
    ['tolerations', { tolerations: toleration('a') }, {}, { tolerations: toleration('a') }],
    [
      'tolerations',
      { tolerations: toleration('a') },
      { tolerations: toleration('b') },
      { tolerations: toleration('b') },
    ],
    ['tolerations', { tolerations: toleration('a') }, { tolerations: [] }, { tolerations: [] }],
    ['the node selector', { nodeSelector: { a: '1' } }, {}, { nodeSelector: { a: '1' } }],
    ['the affinity', { affinity: nodeAffinity('a') }, {}, { affinity: nodeAffinity('a') }],
    ['the affinity', { affinity: nodeAffinity('a') }, { affinity: nodeAffinity('b') }, { affinity: nodeAffinity('b') }],
  ])('uses the shared value of %s only where the operand has none', (_, shared, own, expected) => {
    expect(podOf(shared, own)).toMatchObject(expected);
  });

  it('replaces the node selector as a whole', () => {
    const pod = podOf({ nodeSelector: { a: '1', b: '1' } }, { nodeSelector: { b: '2' } });
    expect(pod?.nodeSelector).toEqual({ b: '2' });
  });

  it('combines labels and resources by key', () => {
    const shared = { labels: { a: '1', b: '1' }, resources: { requests: { cpu: '1', memory: '1Gi' } } };
    const own = { labels: { b: '2' }, resources: { requests: { cpu: '2' }, limits: { cpu: 3 } } };
    const template = templateOf(serverObjects(sampleServer({ shared, spec: own })));
    expect(template.metadata?.labels).toMatchObject({ a: '1', b: '2' });
    for (const { resources } of template.spec?.containers ?? []) {
      expect(resources).toEqual({ requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '3' } });
    }
  });

  it('leaves out what no object sets', () => {
    const pod = podOf({});
    for (const field of Object.keys(PODS)) expect(pod).not.toHaveProperty(field);
    expect(pod).not.toHaveProperty('imagePullSecrets');
    for (const container of pod?.containers ?? []) expect(container).not.toHaveProperty('resources');
  });

  const config = { imagePullSecrets: ['a', 'b'] };
  it.each([
    ['server', serverObjects(sampleServer({ spec: PODS, config })), serverObjects(sampleServer({ isOpenShift: true }))],
    ['agent', agentObjects(sampleAgent({ spec: PODS, config })), agentObjects(sampleAgent({ isOpenShift: true }))],
    ['csi', csiObjects(sampleCsi({ spec: PODS, config })), csiObjects(sampleCsi({ isOpenShift: true }))],
    ['oidc', oidcObjects(sampleOidc({ spec: PODS, config })), oidcObjects(sampleOidc({ isOpenShift: true }))],
  ])('has the same settings for all operands: %s', (_, children, onOpenShift) => {
    const { metadata, spec: pod } = templateOf(children);
    const { labels, resources, ...others } = PODS;
    expect(metadata?.labels).toMatchObject(labels);
    expect(pod).toMatchObject({
      ...others,
      imagePullSecrets: [{ name: 'a' }, { name: 'b' }],
      terminationGracePeriodSeconds: 20,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const container of pod?.containers ?? []) {
      expect(container.resources).toEqual(resources);
      expect(container.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const { privileged = false, allowPrivilegeEscalation } = container.securityContext ?? {};
      // The API server refuses privileged containers that may not gain privileges.
      expect([privileged, allowPrivilegeEscalation]).toEqual(privileged ? [true, undefined] : [false, false]);
    }
    expect(JSON.stringify(templateOf(onOpenShift))).not.toContain('runAs');
    expect(JSON.stringify(templateOf(onOpenShift))).not.toContain('fsGroup');
  });
});
