// Generated from openapi/node-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { Toleration } from './core-v1.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Overhead {
  readonly podFixed?: { readonly [key: string]: string } | undefined;
}

export interface RuntimeClass {
  readonly apiVersion?: string | undefined;
  readonly handler: string;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly overhead?: Overhead | undefined;
  readonly scheduling?: Scheduling | undefined;
}

export const RuntimeClass: Resource<RuntimeClass, 'RuntimeClass.v1.node.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'node.k8s.io', version: 'v1', kind: 'RuntimeClass', plural: 'runtimeclasses', scope: 'Cluster' });

export interface RuntimeClassList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly RuntimeClass[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface Scheduling {
  readonly nodeSelector?: { readonly [key: string]: string } | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
}
