import type { Container, Deployment, PodTemplateSpec } from '@bowline/kubernetes';
import type { Cluster } from '../../testing/cluster.ts';

/** OpenCluster gives a test its corner of the control plane that is being tested. */
export type OpenCluster = () => Promise<Cluster>;

/** The container of every Pod that the behaviours make. */
export const container: Container = { name: 'main', image: 'example.test/main:1' };

/** podTemplate is a template with the label `app: web`. */
export function podTemplate(more: Partial<NonNullable<PodTemplateSpec['spec']>> = {}): PodTemplateSpec {
  return { metadata: { labels: { app: 'web' } }, spec: { containers: [container], ...more } };
}

/** The selector of `podTemplate`. */
export const selector = { matchLabels: { app: 'web' } };

/** web is a Deployment of `podTemplate`. */
export function web(c: Cluster, spec: Partial<NonNullable<Deployment['spec']>> = {}): Deployment {
  return { metadata: { name: 'web', namespace: c.namespace }, spec: { selector, template: podTemplate(), ...spec } };
}
