// Generated from openapi/discovery-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ObjectReference } from './core-v1.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditions | undefined;
  readonly deprecatedTopology?: { readonly [key: string]: string } | undefined;
  readonly hints?: EndpointHints | undefined;
  readonly hostname?: string | undefined;
  readonly nodeName?: string | undefined;
  readonly targetRef?: ObjectReference | undefined;
  readonly zone?: string | undefined;
}

export interface EndpointConditions {
  readonly ready?: boolean | undefined;
  readonly serving?: boolean | undefined;
  readonly terminating?: boolean | undefined;
}

export interface EndpointHints {
  readonly forNodes?: readonly ForNode[] | undefined;
  readonly forZones?: readonly ForZone[] | undefined;
}

export interface EndpointPort {
  readonly appProtocol?: string | undefined;
  readonly name?: string | undefined;
  readonly port?: number | undefined;
  readonly protocol?: 'SCTP' | 'TCP' | 'UDP' | undefined;
}

export interface EndpointSlice {
  readonly addressType: 'FQDN' | 'IPv4' | 'IPv6';
  readonly apiVersion?: string | undefined;
  readonly endpoints: readonly Endpoint[];
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly ports?: readonly EndpointPort[] | undefined;
}

export const EndpointSlice: Resource<EndpointSlice, 'EndpointSlice.v1.discovery.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice', plural: 'endpointslices', scope: 'Namespaced' });

export interface EndpointSliceList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly EndpointSlice[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface ForNode {
  readonly name: string;
}

export interface ForZone {
  readonly name: string;
}
