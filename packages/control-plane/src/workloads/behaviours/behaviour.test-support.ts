import type { Container, Deployment, PodTemplateSpec } from '@bowline/kubernetes';
import type { Cluster } from '../../testing/cluster.ts';

/** OpenCluster opens a test's cluster on the control plane under test. */
export type OpenCluster = () => Promise<Cluster>;

/** The container of every Pod that the behaviours create. */
export const container: Container = { name: 'main', image: 'example.test/main:1' };

/** podTemplate returns a template with the label `app: web`. */
export function podTemplate(more: Partial<NonNullable<PodTemplateSpec['spec']>> = {}): PodTemplateSpec {
  return { metadata: { labels: { app: 'web' } }, spec: { containers: [container], ...more } };
}

/** The selector of `podTemplate`. */
export const selector = { matchLabels: { app: 'web' } };

/** web returns a Deployment of `podTemplate`. */
export function web(c: Cluster, spec: Partial<NonNullable<Deployment['spec']>> = {}): Deployment {
  return { metadata: { name: 'web', namespace: c.namespace }, spec: { selector, template: podTemplate(), ...spec } };
}
