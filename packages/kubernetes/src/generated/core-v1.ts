import { type Resource, resource } from '../resource.ts';
import type { ObjectMeta } from './meta-v1.ts';

export interface ConfigMap {
  readonly apiVersion?: string;
  readonly binaryData?: { readonly [key: string]: string };
  readonly data?: { readonly [key: string]: string };
  readonly immutable?: boolean;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}
export const ConfigMap: Resource<ConfigMap, 'ConfigMap.v1.'> = resource({
  group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced', id: 'ConfigMap.v1.',
});
export interface Secret {
  readonly apiVersion?: string;
  readonly data?: { readonly [key: string]: string };
  readonly immutable?: boolean;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
  readonly stringData?: { readonly [key: string]: string };
  readonly type?: string;
}
export const Secret: Resource<Secret, 'Secret.v1.'> = resource({
  group: '', version: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced', id: 'Secret.v1.',
});
export interface Namespace {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string };
}
export const Namespace: Resource<Namespace, 'Namespace.v1.'> = resource({
  group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster', id: 'Namespace.v1.',
});
