// Generated from openapi/certificates-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CertificateSigningRequest {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: CertificateSigningRequestSpec;
  readonly status?: CertificateSigningRequestStatus | undefined;
}

export const CertificateSigningRequest: Resource<CertificateSigningRequest, 'CertificateSigningRequest.v1.certificates.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest', plural: 'certificatesigningrequests', scope: 'Cluster' });

export interface CertificateSigningRequestCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface CertificateSigningRequestList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly CertificateSigningRequest[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface CertificateSigningRequestSpec {
  readonly expirationSeconds?: number | undefined;
  readonly extra?: { readonly [key: string]: readonly string[] } | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly request: string;
  readonly signerName: string;
  readonly uid?: string | undefined;
  readonly usages?: readonly ('any' | 'cert sign' | 'client auth' | 'code signing' | 'content commitment' | 'crl sign' | 'data encipherment' | 'decipher only' | 'digital signature' | 'email protection' | 'encipher only' | 'ipsec end system' | 'ipsec tunnel' | 'ipsec user' | 'key agreement' | 'key encipherment' | 'microsoft sgc' | 'netscape sgc' | 'ocsp signing' | 's/mime' | 'server auth' | 'signing' | 'timestamping')[] | undefined;
  readonly username?: string | undefined;
}

export interface CertificateSigningRequestStatus {
  readonly certificate?: string | undefined;
  readonly conditions?: readonly CertificateSigningRequestCondition[] | undefined;
}
