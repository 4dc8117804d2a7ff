import { isObject, type JsonObject } from '@bowline/machinery';
import { isZeroCommit, pushPayload, refPayload } from './parse-ref.ts';
import { type BranchHead, ignored, invalid, NO_REF, type Payload, type PayloadSource } from './payload.ts';

const DELETED = 'a deletion requests nothing';
const UNUSED = 'this event requests nothing';

/** gitHubPayload parses an event of GitHub, or of Gitea, whose events have the same form. */
export function gitHubPayload(source: 'github' | 'gitea', event: string, body: JsonObject): Payload {
  if (event === 'push') return pushEvent(source, body);
  if (event === 'create') return createEvent(source, body);
  if (event === 'release') return releasePayload(source, body);
  return ignored(source, event === 'ping' ? 'pong' : UNUSED);
}

/** releasePayload parses a release in the form of GitHub. One without an action counts as published. */
export function releasePayload(source: 'github' | 'gitea', { action = 'published', release }: JsonObject): Payload {
  if (!isObject(release)) return invalid(source, NO_REF);
  if (action !== 'published') return ignored(source, 'only a published release requests something');
  if (release.draft === true) return ignored(source, 'a draft requests nothing');
  return refPayload(source, release.tag_name);
}

/** gitLabPayload parses an event of GitLab. */
export function gitLabPayload(event: string, body: JsonObject): Payload {
  if (event === 'Push Hook' || event === 'Tag Push Hook') return pushEvent('gitlab', body);
  if (event !== 'Release Hook') return ignored('gitlab', UNUSED);
  if (body.action !== undefined && body.action !== 'create')
    return ignored('gitlab', 'only a created release requests something');
  return refPayload('gitlab', body.tag);
}

/** bitbucketPayload parses an event of Bitbucket Cloud (repo:push) or Bitbucket Data Center (repo:refs_changed). */
export function bitbucketPayload(event: string, body: JsonObject): Payload {
  if (event === 'repo:push') {
    return changesPayload(isObject(body.push) ? body.push.changes : undefined, (change) => {
      if (change.new === null) return 'deleted';
      if (!isObject(change.new)) return undefined;
      const { type, name, target } = change.new;
      return { isTag: type === 'tag', name, commit: isObject(target) ? target.hash : undefined };
    });
  }
  if (event === 'repo:refs_changed') {
    return changesPayload(body.changes, (change) => {
      if (change.type === 'DELETE') return 'deleted';
      if (!isObject(change.ref)) return undefined;
      const { type, id, displayId } = change.ref;
      return { isTag: type === 'TAG', name: id ?? displayId, commit: change.toHash };
    });
  }
  return ignored('bitbucket', event === 'diagnostics:ping' ? 'pong' : UNUSED);
}

function pushEvent(source: PayloadSource, { ref, after, deleted }: JsonObject): Payload {
  if (typeof ref !== 'string' || ref === '') return invalid(source, NO_REF);
  if (deleted === true || isZeroCommit(after)) return ignored(source, DELETED);
  return ref.startsWith('refs/tags/') ? refPayload(source, ref) : pushPayload(source, ref, after);
}

/** A created branch is also pushed, and only the push contains its commit. */
function createEvent(source: PayloadSource, { ref, ref_type: type }: JsonObject): Payload {
  return type === 'tag' ? refPayload(source, ref) : ignored(source, 'a created branch is reported by its push');
}

interface BitbucketChange {
  readonly isTag: boolean;
  readonly name: unknown;
  readonly commit: unknown;
}

/** Bitbucket reports several refs in one payload. As in separate payloads, the last tag takes precedence. */
function changesPayload(
  changes: unknown,
  read: (change: JsonObject) => BitbucketChange | 'deleted' | undefined,
): Payload {
  const heads: BranchHead[] = [];
  let tag: Payload | undefined;
  let hasDeletion = false;
  for (const each of Array.isArray(changes) ? (changes as readonly unknown[]) : []) {
    const change = isObject(each) ? read(each) : undefined;
    if (change === 'deleted') hasDeletion = true;
    if (change === undefined || change === 'deleted') continue;
    const { isTag, name, commit } = change;
    const payload = isTag ? refPayload('bitbucket', name) : branchPayload(name, commit);
    if (payload.kind === 'invalid') return payload;
    if (payload.kind === 'push') heads.push(...payload.heads);
    else tag = payload;
  }
  if (tag) return tag;
  if (heads.length > 0) return { kind: 'push', source: 'bitbucket', heads };
  return hasDeletion ? ignored('bitbucket', DELETED) : invalid('bitbucket', NO_REF);
}

function branchPayload(name: unknown, commit: unknown): Payload {
  return typeof name === 'string' && name !== ''
    ? pushPayload('bitbucket', name, commit)
    : invalid('bitbucket', NO_REF);
}
