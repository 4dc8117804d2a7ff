// Generated from openapi/*.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { text as admissionregistrationV1 } from './admissionregistration-v1.ts';
import { text as apiextensionsV1 } from './apiextensions-v1.ts';
import { text as apiregistrationV1 } from './apiregistration-v1.ts';
import { text as appsV1 } from './apps-v1.ts';
import { text as authenticationV1 } from './authentication-v1.ts';
import { text as authorizationV1 } from './authorization-v1.ts';
import { text as autoscalingV1 } from './autoscaling-v1.ts';
import { text as autoscalingV2 } from './autoscaling-v2.ts';
import { text as batchV1 } from './batch-v1.ts';
import { text as certificatesV1 } from './certificates-v1.ts';
import { text as coordinationV1 } from './coordination-v1.ts';
import { text as coreV1 } from './core-v1.ts';
import { text as discoveryV1 } from './discovery-v1.ts';
import { text as eventsV1 } from './events-v1.ts';
import { text as metaV1 } from './meta-v1.ts';
import { text as networkingV1 } from './networking-v1.ts';
import { text as nodeV1 } from './node-v1.ts';
import { text as policyV1 } from './policy-v1.ts';
import { text as rbacV1 } from './rbac-v1.ts';
import { text as schedulingV1 } from './scheduling-v1.ts';
import { text as storageV1 } from './storage-v1.ts';

export const modules: { readonly [module: string]: { readonly apiVersion: string; readonly text: string } | undefined } = {
  'admissionregistration-v1': { apiVersion: 'admissionregistration.k8s.io/v1', text: admissionregistrationV1 },
  'apiextensions-v1': { apiVersion: 'apiextensions.k8s.io/v1', text: apiextensionsV1 },
  'apiregistration-v1': { apiVersion: 'apiregistration.k8s.io/v1', text: apiregistrationV1 },
  'apps-v1': { apiVersion: 'apps/v1', text: appsV1 },
  'authentication-v1': { apiVersion: 'authentication.k8s.io/v1', text: authenticationV1 },
  'authorization-v1': { apiVersion: 'authorization.k8s.io/v1', text: authorizationV1 },
  'autoscaling-v1': { apiVersion: 'autoscaling/v1', text: autoscalingV1 },
  'autoscaling-v2': { apiVersion: 'autoscaling/v2', text: autoscalingV2 },
  'batch-v1': { apiVersion: 'batch/v1', text: batchV1 },
  'certificates-v1': { apiVersion: 'certificates.k8s.io/v1', text: certificatesV1 },
  'coordination-v1': { apiVersion: 'coordination.k8s.io/v1', text: coordinationV1 },
  'core-v1': { apiVersion: 'v1', text: coreV1 },
  'discovery-v1': { apiVersion: 'discovery.k8s.io/v1', text: discoveryV1 },
  'events-v1': { apiVersion: 'events.k8s.io/v1', text: eventsV1 },
  'meta-v1': { apiVersion: 'v1', text: metaV1 },
  'networking-v1': { apiVersion: 'networking.k8s.io/v1', text: networkingV1 },
  'node-v1': { apiVersion: 'node.k8s.io/v1', text: nodeV1 },
  'policy-v1': { apiVersion: 'policy/v1', text: policyV1 },
  'rbac-v1': { apiVersion: 'rbac.authorization.k8s.io/v1', text: rbacV1 },
  'scheduling-v1': { apiVersion: 'scheduling.k8s.io/v1', text: schedulingV1 },
  'storage-v1': { apiVersion: 'storage.k8s.io/v1', text: storageV1 },
};
