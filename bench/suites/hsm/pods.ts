import type { HsmScene } from './scene.ts';

/** Workload is a DaemonSet or a Deployment of the operator. No controller of workloads runs: the harness creates its pods. */
export interface Workload {
  readonly apiVersion: string;
  readonly kind: 'DaemonSet' | 'Deployment';
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly template: { readonly metadata: TemplateMetadata; readonly spec: object } };
}

interface TemplateMetadata {
  readonly annotations?: Readonly<Record<string, string>>;
}

/** WorkloadPod names a pod of a workload. */
export interface WorkloadPod {
  readonly name: string;
  readonly nodeName: string;
  /** The address of the pod. */
  readonly ip: string;
}

/** createPod creates a pod from the template of its workload, as the controller of that would, already bound to its node. */
export async function createPod(
  { api }: HsmScene,
  namespace: string,
  { apiVersion, kind, metadata, spec }: Workload,
  { name, nodeName }: WorkloadPod,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const owner = {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  await api.ok('POST', `/api/v1/namespaces/${namespace}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...spec.template.metadata,
      annotations: { ...spec.template.metadata.annotations, ...annotations },
      name,
      ownerReferences: [owner],
    },
    spec: { ...spec.template.spec, nodeName },
  });
}

/** deletePod deletes a pod at once. */
export async function deletePod({ api }: HsmScene, namespace: string, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`;
  await api.ok('DELETE', path, undefined, undefined, [404]);
}
