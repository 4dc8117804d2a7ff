// Generated from openapi/storage-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { PersistentVolumeSpec, TopologySelectorTerm } from './core-v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CSIDriver {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: CSIDriverSpec;
}

export const CSIDriver: Resource<CSIDriver, 'CSIDriver.v1.storage.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'storage.k8s.io', version: 'v1', kind: 'CSIDriver', plural: 'csidrivers', scope: 'Cluster' });

export interface CSIDriverList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly CSIDriver[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface CSIDriverSpec {
  readonly attachRequired?: boolean | undefined;
  readonly fsGroupPolicy?: string | undefined;
  readonly nodeAllocatableUpdatePeriodSeconds?: number | undefined;
  readonly podInfoOnMount?: boolean | undefined;
  readonly requiresRepublish?: boolean | undefined;
  readonly seLinuxMount?: boolean | undefined;
  readonly serviceAccountTokenInSecrets?: boolean | undefined;
  readonly storageCapacity?: boolean | undefined;
  readonly tokenRequests?: readonly TokenRequest[] | undefined;
  readonly volumeLifecycleModes?: readonly string[] | undefined;
}

export interface CSINode {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: CSINodeSpec;
}

export const CSINode: Resource<CSINode, 'CSINode.v1.storage.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'storage.k8s.io', version: 'v1', kind: 'CSINode', plural: 'csinodes', scope: 'Cluster' });

export interface CSINodeDriver {
  readonly allocatable?: VolumeNodeResources | undefined;
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys?: readonly string[] | undefined;
}

export interface CSINodeList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly CSINode[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface CSINodeSpec {
  readonly drivers: readonly CSINodeDriver[];
}

export interface CSIStorageCapacity {
  readonly apiVersion?: string | undefined;
  readonly capacity?: string | undefined;
  readonly kind?: string | undefined;
  readonly maximumVolumeSize?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly nodeTopology?: LabelSelector | undefined;
  readonly storageClassName: string;
}

export const CSIStorageCapacity: Resource<CSIStorageCapacity, 'CSIStorageCapacity.v1.storage.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'storage.k8s.io', version: 'v1', kind: 'CSIStorageCapacity', plural: 'csistoragecapacities', scope: 'Namespaced' });

export interface CSIStorageCapacityList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly CSIStorageCapacity[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface StorageClass {
  readonly allowVolumeExpansion?: boolean | undefined;
  readonly allowedTopologies?: readonly TopologySelectorTerm[] | undefined;
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly mountOptions?: readonly string[] | undefined;
  readonly parameters?: { readonly [key: string]: string } | undefined;
  readonly provisioner: string;
  readonly reclaimPolicy?: 'Delete' | 'Recycle' | 'Retain' | undefined;
  readonly volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer' | undefined;
}

export const StorageClass: Resource<StorageClass, 'StorageClass.v1.storage.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'storage.k8s.io', version: 'v1', kind: 'StorageClass', plural: 'storageclasses', scope: 'Cluster' });

export interface StorageClassList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly StorageClass[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface TokenRequest {
  readonly audience: string;
  readonly expirationSeconds?: number | undefined;
}

export interface VolumeAttachment {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus | undefined;
}

export const VolumeAttachment: Resource<VolumeAttachment, 'VolumeAttachment.v1.storage.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'storage.k8s.io', version: 'v1', kind: 'VolumeAttachment', plural: 'volumeattachments', scope: 'Cluster' });

export interface VolumeAttachmentList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly VolumeAttachment[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface VolumeAttachmentSource {
  readonly inlineVolumeSpec?: PersistentVolumeSpec | undefined;
  readonly persistentVolumeName?: string | undefined;
}

export interface VolumeAttachmentSpec {
  readonly attacher: string;
  readonly nodeName: string;
  readonly source: VolumeAttachmentSource;
}

export interface VolumeAttachmentStatus {
  readonly attachError?: VolumeError | undefined;
  readonly attached: boolean;
  readonly attachmentMetadata?: { readonly [key: string]: string } | undefined;
  readonly detachError?: VolumeError | undefined;
}

export interface VolumeAttributesClass {
  readonly apiVersion?: string | undefined;
  readonly driverName: string;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly parameters?: { readonly [key: string]: string } | undefined;
}

export const VolumeAttributesClass: Resource<VolumeAttributesClass, 'VolumeAttributesClass.v1.storage.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'storage.k8s.io', version: 'v1', kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', scope: 'Cluster' });

export interface VolumeAttributesClassList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly VolumeAttributesClass[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface VolumeError {
  readonly errorCode?: number | undefined;
  readonly message?: string | undefined;
  readonly time?: string | undefined;
}

export interface VolumeNodeResources {
  readonly count?: number | undefined;
}
