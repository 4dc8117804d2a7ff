// Generated from openapi/apiregistration-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface APIService {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: APIServiceSpec | undefined;
  readonly status?: APIServiceStatus | undefined;
}

export const APIService: Resource<APIService, 'APIService.v1.apiregistration.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'apiregistration.k8s.io', version: 'v1', kind: 'APIService', plural: 'apiservices', scope: 'Cluster' });

export interface APIServiceCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface APIServiceList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly APIService[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface APIServiceSpec {
  readonly caBundle?: string | undefined;
  readonly group?: string | undefined;
  readonly groupPriorityMinimum: number;
  readonly insecureSkipTLSVerify?: boolean | undefined;
  readonly service?: ServiceReference | undefined;
  readonly version?: string | undefined;
  readonly versionPriority: number;
}

export interface APIServiceStatus {
  readonly conditions?: readonly APIServiceCondition[] | undefined;
}

export interface ServiceReference {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly port?: number | undefined;
}
