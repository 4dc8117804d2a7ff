// Generated from openapi/networking-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { TypedLocalObjectReference } from './core-v1.ts';
import type { Condition, LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface HTTPIngressPath {
  readonly backend: IngressBackend;
  readonly path?: string | undefined;
  readonly pathType: 'Exact' | 'ImplementationSpecific' | 'Prefix';
}

export interface HTTPIngressRuleValue {
  readonly paths: readonly HTTPIngressPath[];
}

export interface IPAddress {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: IPAddressSpec | undefined;
}

export const IPAddress: Resource<IPAddress, 'IPAddress.v1.networking.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'networking.k8s.io', version: 'v1', kind: 'IPAddress', plural: 'ipaddresses', scope: 'Cluster' });

export interface IPAddressList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly IPAddress[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface IPAddressSpec {
  readonly parentRef: ParentReference;
}

export interface IPBlock {
  readonly cidr: string;
  readonly except?: readonly string[] | undefined;
}

export interface Ingress {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: IngressSpec | undefined;
  readonly status?: IngressStatus | undefined;
}

export const Ingress: Resource<Ingress, 'Ingress.v1.networking.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'networking.k8s.io', version: 'v1', kind: 'Ingress', plural: 'ingresses', scope: 'Namespaced' });

export interface IngressBackend {
  readonly resource?: TypedLocalObjectReference | undefined;
  readonly service?: IngressServiceBackend | undefined;
}

export interface IngressClass {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: IngressClassSpec | undefined;
}

export const IngressClass: Resource<IngressClass, 'IngressClass.v1.networking.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'networking.k8s.io', version: 'v1', kind: 'IngressClass', plural: 'ingressclasses', scope: 'Cluster' });

export interface IngressClassList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly IngressClass[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface IngressClassParametersReference {
  readonly apiGroup?: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly scope?: string | undefined;
}

export interface IngressClassSpec {
  readonly controller?: string | undefined;
  readonly parameters?: IngressClassParametersReference | undefined;
}

export interface IngressList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly Ingress[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface IngressLoadBalancerIngress {
  readonly hostname?: string | undefined;
  readonly ip?: string | undefined;
  readonly ports?: readonly IngressPortStatus[] | undefined;
}

export interface IngressLoadBalancerStatus {
  readonly ingress?: readonly IngressLoadBalancerIngress[] | undefined;
}

export interface IngressPortStatus {
  readonly error?: string | undefined;
  readonly port: number;
  readonly protocol: 'SCTP' | 'TCP' | 'UDP';
}

export interface IngressRule {
  readonly host?: string | undefined;
  readonly http?: HTTPIngressRuleValue | undefined;
}

export interface IngressServiceBackend {
  readonly name: string;
  readonly port?: ServiceBackendPort | undefined;
}

export interface IngressSpec {
  readonly defaultBackend?: IngressBackend | undefined;
  readonly ingressClassName?: string | undefined;
  readonly rules?: readonly IngressRule[] | undefined;
  readonly tls?: readonly IngressTLS[] | undefined;
}

export interface IngressStatus {
  readonly loadBalancer?: IngressLoadBalancerStatus | undefined;
}

export interface IngressTLS {
  readonly hosts?: readonly string[] | undefined;
  readonly secretName?: string | undefined;
}

export interface NetworkPolicy {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: NetworkPolicySpec | undefined;
}

export const NetworkPolicy: Resource<NetworkPolicy, 'NetworkPolicy.v1.networking.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'networking.k8s.io', version: 'v1', kind: 'NetworkPolicy', plural: 'networkpolicies', scope: 'Namespaced' });

export interface NetworkPolicyEgressRule {
  readonly ports?: readonly NetworkPolicyPort[] | undefined;
  readonly to?: readonly NetworkPolicyPeer[] | undefined;
}

export interface NetworkPolicyIngressRule {
  readonly from?: readonly NetworkPolicyPeer[] | undefined;
  readonly ports?: readonly NetworkPolicyPort[] | undefined;
}

export interface NetworkPolicyList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly NetworkPolicy[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface NetworkPolicyPeer {
  readonly ipBlock?: IPBlock | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly podSelector?: LabelSelector | undefined;
}

export interface NetworkPolicyPort {
  readonly endPort?: number | undefined;
  readonly port?: number | string | undefined;
  readonly protocol?: 'SCTP' | 'TCP' | 'UDP' | undefined;
}

export interface NetworkPolicySpec {
  readonly egress?: readonly NetworkPolicyEgressRule[] | undefined;
  readonly ingress?: readonly NetworkPolicyIngressRule[] | undefined;
  readonly podSelector?: LabelSelector | undefined;
  readonly policyTypes?: readonly ('Egress' | 'Ingress')[] | undefined;
}

export interface ParentReference {
  readonly group?: string | undefined;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly resource: string;
}

export interface ServiceBackendPort {
  readonly name?: string | undefined;
  readonly number?: number | undefined;
}

export interface ServiceCIDR {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: ServiceCIDRSpec | undefined;
  readonly status?: ServiceCIDRStatus | undefined;
}

export const ServiceCIDR: Resource<ServiceCIDR, 'ServiceCIDR.v1.networking.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'networking.k8s.io', version: 'v1', kind: 'ServiceCIDR', plural: 'servicecidrs', scope: 'Cluster' });

export interface ServiceCIDRList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly ServiceCIDR[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface ServiceCIDRSpec {
  readonly cidrs?: readonly string[] | undefined;
}

export interface ServiceCIDRStatus {
  readonly conditions?: readonly Condition[] | undefined;
}
