import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type JsonObject } from '@bowline/machinery';
import { bitbucketPayload, gitHubPayload, gitLabPayload, releasePayload } from './git-server-payloads.ts';
import { isZeroCommit, refPayload } from './parse-ref.ts';
import { ignored, invalid, NO_REF, type Payload, type PayloadSource } from './payload.ts';

/** SENDERS are the systems that identify themselves by a header, which contains the event. */
const SENDERS: readonly {
  readonly source: PayloadSource;
  readonly event: string;
  /** The headers that identify a delivery. They stay the same when it is sent again. */
  readonly delivery: readonly string[];
  readonly parse: (event: string, body: JsonObject) => Payload;
}[] = [
  {
    // Gitea also sends the headers of GitHub.
    source: 'gitea',
    event: 'x-gitea-event',
    delivery: ['x-gitea-delivery'],
    parse: (event, body) => gitHubPayload('gitea', event, body),
  },
  {
    source: 'github',
    event: 'x-github-event',
    delivery: ['x-github-delivery'],
    parse: (event, body) => gitHubPayload('github', event, body),
  },
  // Not x-gitlab-event-uuid: all branches of one push share it.
  { source: 'gitlab', event: 'x-gitlab-event', delivery: ['idempotency-key'], parse: gitLabPayload },
  { source: 'bitbucket', event: 'x-event-key', delivery: ['x-request-uuid', 'x-request-id'], parse: bitbucketPayload },
];

/** Longer ids are not remembered, to bound their memory. */
const DELIVERY_ID = /^[\x21-\x7e]{1,128}$/;

/** parsePayload returns what a webhook requests: by the header that names its sender, else by its shape. */
export function parsePayload(headers: IncomingHttpHeaders, body: JsonObject): Payload {
  const sender = senderOf(headers);
  return sender ? sender.parse(String(headers[sender.event]), body) : payloadByShape(body);
}

/** deliveryId returns the id of a delivery; undefined if its sender has none. */
export function deliveryId(headers: IncomingHttpHeaders): string | undefined {
  const name = senderOf(headers)?.delivery.find((each) => headers[each] !== undefined);
  const id = name === undefined ? undefined : headers[name];
  return typeof id === 'string' && DELIVERY_ID.test(id) ? id : undefined;
}

function senderOf(headers: IncomingHttpHeaders): (typeof SENDERS)[number] | undefined {
  return SENDERS.find(({ event }) => headers[event] !== undefined);
}

function payloadByShape(body: JsonObject): Payload {
  const { release, app, freight, ref } = body;
  if (isObject(release) && isText(release.tag_name)) return releasePayload('github', body);
  const annotated = argoCdRef(app);
  if (isText(annotated)) return refPayload('argocd', annotated);
  const tag = kargoTag(freight);
  if (isText(tag)) return refPayload('kargo', tag);
  if (!isText(ref)) return invalid(undefined, NO_REF);
  // The push of a Git server whose header was removed on the way.
  if (body.deleted === true || isZeroCommit(body.after)) return ignored('generic', 'a deletion requests nothing');
  return refPayload('generic', ref);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function argoCdRef(app: unknown): unknown {
  const metadata = isObject(app) ? app.metadata : undefined;
  const annotations = isObject(metadata) ? metadata.annotations : undefined;
  return isObject(annotations) ? annotations['git.ref'] : undefined;
}

function kargoTag(freight: unknown): unknown {
  const commits = isObject(freight) ? freight.commits : undefined;
  const first: unknown = Array.isArray(commits) ? commits[0] : undefined;
  return isObject(first) ? first.tag : undefined;
}
