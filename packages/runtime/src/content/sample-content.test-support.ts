import { hash } from 'node:crypto';
import { ConfigMap, type KubernetesObject } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import type { WriteClient } from '../writing/write-client.ts';
import type { Content } from './content.ts';
import type { ContentView } from './content-view.ts';
import type { ContentTools } from './ensure-content.ts';
import { managedContent } from './managed-content.ts';
import type { Claim } from './plan-content.ts';

/** PREFIX is the prefix of the labels and annotations of the sample. */
export const PREFIX = 'content.test.bowline.dev/';
/** OWNER is the label that names the owner of an object. */
export const OWNER = `${PREFIX}owner`;
export const MANAGER = 'sample';
/** ALLOWED is the annotation with which an object allows guests. */
export const ALLOWED = `${PREFIX}allowed`;

/** sample is content that uses everything that a format may have. */
export const sample = managedContent({
  resource: ConfigMap,
  maps: ['data', 'binaryData'],
  hash: ({ data, binaryData }: Content<'data' | 'binaryData'>) =>
    hash('sha256', JSON.stringify([data, binaryData].map((map) => Object.entries(map).sort())), 'hex'),
  managers: [MANAGER, 'before'],
  annotations: {
    hash: `${PREFIX}hash`,
    time: `${PREFIX}time`,
    keys: `${PREFIX}keys`,
    metadata: `${PREFIX}metadata`,
    adopted: `${PREFIX}adopted`,
    previousManager: `${PREFIX}previous-manager`,
  },
  operatorAnnotations: {
    uid: `${PREFIX}uid`,
    version: `${PREFIX}version`,
    large: { annotation: `${PREFIX}large`, keep: 'hash' },
    dropped: { annotation: `${PREFIX}dropped`, keep: 'nothing' },
  },
  labelPrefix: PREFIX,
  backup: { suffix: '-before', label: `${PREFIX}backup-of` },
  more: ({ metadata }) => ({ isAllowed: metadata?.annotations?.[ALLOWED] === 'true' }),
});

export type SampleView = ReturnType<typeof sample.viewOf>;

/** desiredSample returns the desired content of an object of the owner `me`. */
export function desiredSample(
  content: Partial<Content<'data' | 'binaryData'>>,
  wanted: Partial<Parameters<typeof sample.desired>[0]> = {},
) {
  return sample.desired({
    content: { data: {}, binaryData: {}, ...content },
    labels: { [OWNER]: 'me' },
    operatorAnnotations: { uid: 'my-uid' },
    ...wanted,
  });
}

/** sampleClaim recognises objects by the label and the uid of their owner; `gone` is an owner that no longer exists. */
export function sampleClaim({ labels, isOurs, operatorAnnotations, isAllowed }: SampleView): Claim<string> {
  const owner = isOurs ? labels[OWNER] : undefined;
  if (owner === undefined) return isAllowed ? 'guest' : 'foreign';
  if (owner === 'me') return operatorAnnotations.uid === 'my-uid' ? 'ours' : 'left';
  return owner === 'gone' ? 'left' : { refused: `it belongs to ${owner}` };
}

/** toolsOf returns the tools of a program without a cache. */
export function toolsOf(
  live: WriteClient,
  views: (name: string) => ContentView | undefined = () => undefined,
): ContentTools {
  return {
    live,
    clock: systemClock,
    fieldManager: 'test',
    lookUp: (_, { name }) => {
      const view = views(name);
      return view && { view };
    },
  };
}

/** storedAs returns an object as if the API server had stored it. */
export function storedAs<T extends KubernetesObject>(object: T): T {
  return { ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion: '7' } };
}
