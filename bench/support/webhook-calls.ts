import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { type Report, runSubject, subjectArguments } from './run-subject.ts';
import type { Scene } from './scene.ts';

/** ServedWebhook is where a webhook is served. */
export interface ServedWebhook {
  readonly port: number;
  readonly path: string;
}

/** WebhookCalls are the calls that are timed. */
export interface WebhookCalls {
  /** The certificate of both servers; see `issueServerCertificate`. */
  readonly folder: string;
  readonly reviews: number;
  /** AdmissionReviews, which are sent in turn. */
  readonly bodies: readonly string[];
  readonly bowline: ServedWebhook;
  readonly bare: ServedWebhook;
}

/**
 * callWebhooks calls our server and the bare one alternately. It returns `bowlineP50`, `bowlineP99`, `bareP50` and `bareP99`, in
 * milliseconds.
 */
export async function callWebhooks(
  scene: Scene,
  { folder, reviews, bodies, bowline, bare }: WebhookCalls,
): Promise<Report> {
  const file = join(scene.folder, 'reviews.json');
  writeFileSync(file, JSON.stringify(bodies));
  const args = subjectArguments(scene, {
    folder,
    reviews,
    bodies: file,
    bowlinePort: bowline.port,
    bowlinePath: bowline.path,
    barePort: bare.port,
    barePath: bare.path,
  });
  const caller = { id: 'caller', label: 'caller', command: scene.command('webhook-caller'), args };
  return (await runSubject(caller, 0)).report;
}

/** ReviewedObject is an object whose creation is reviewed. */
export interface ReviewedObject {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly object: { readonly metadata: { readonly name: string; readonly namespace?: string } };
}

/** creationReview returns the AdmissionReview of the creation of an object. */
export function creationReview(index: number, { group, version, kind, resource, object }: ReviewedObject): string {
  const { name, namespace } = object.metadata;
  const gvk = { group, version, kind };
  const gvr = { group, version, resource };
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: `0b4d1e7a-6d52-4bd4-9c1f-${String(index).padStart(12, '0')}`,
      kind: gvk,
      resource: gvr,
      requestKind: gvk,
      requestResource: gvr,
      name,
      namespace,
      operation: 'CREATE',
      userInfo: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      object,
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'kubectl-create' },
    },
  });
}

/** issueServerCertificate writes a certificate for loopback and its CA into a new folder. */
export async function issueServerCertificate(folder: string): Promise<string> {
  const authority = await createCertificateAuthority({ commonName: 'bowline-bench' });
  const leaf = await issueCertificate({
    authority,
    commonName: 'webhook',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'ca.crt'), authority.certificatePem);
  writeFileSync(join(folder, 'tls.crt'), leaf.certificatePem);
  writeFileSync(join(folder, 'tls.key'), leaf.keyPem, { mode: 0o600 });
  return folder;
}
