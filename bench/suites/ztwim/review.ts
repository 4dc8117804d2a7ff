import { join } from 'node:path';
import { webhookPath } from '@bowline/runtime/webhook';
import { SpireServer, ztwim } from '@bowline/ztwim';
import { type Measure, measured } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, type Report, subjectArguments } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import {
  callWebhooks,
  creationReview,
  issueServerCertificate,
  type ReviewedObject,
} from '../../support/webhook-calls.ts';
import { pathOf } from './five-objects.ts';
import { withInstalled } from './installed.ts';
import { LABEL, type ZtwimScene } from './scene.ts';
import { runZtwim } from './ztwim-run.ts';

const timeoutMs = 60_000;
const distinctReviews = 500;

/** The two webhooks of an operand: the first fills in what it inherits, the second validates the result. */
const CALLS = [
  { id: 'inherit', webhook: 'server-inherit', title: 'an operand inherits in admission' },
  { id: 'review', webhook: 'server-review', title: 'an operand is validated in admission' },
] as const;

/** review measures the admission of a SpireServer by the running operator. */
export async function review(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { reviewRounds: rounds } = scene.plan;
  const folder = await issueServerCertificate(join(scene.folder, 'review'));
  const reports = new Map<string, Report[]>(CALLS.map(({ id }) => [id, []]));
  await withInstalled(scene, async () => {
    const bodies = await bodiesOf(scene);
    for (let round = 0; round < rounds; round += 1) {
      scene.log(`${scene.plan.reviews} reviews of an operand, round ${round + 1} of ${rounds}`);
      await using operator = await runZtwim(scene, { certificates: folder });
      await operator.settled();
      await using bare = new SubjectProcess(scene.command('bare-webhook'), subjectArguments(scene, { folder }));
      const served = await bare.next(timeoutMs);
      for (const { id, webhook } of CALLS) {
        const report = await callWebhooks(scene, {
          folder,
          reviews: scene.plan.reviews,
          bodies: bodies[id],
          bowline: { port: scene.known.webhookPort ?? 0, path: pathOfWebhook(webhook) },
          bare: { port: numberIn(served, 'port'), path: String(served.path) },
        });
        reports.get(id)?.push(report);
      }
    }
  });
  return CALLS.flatMap(({ id, title }) => timesOf(id, title, reports.get(id) ?? []));
}

function timesOf(id: string, title: string, reports: readonly Report[]): readonly Measure[] {
  return (['P50', 'P99'] as const).map((percentile) => {
    const each = (server: string): readonly number[] =>
      reports.map((report) => numberIn(report, `${server}${percentile}`));
    const target = `review-${id}-p99`;
    return judgedMeasure(
      {
        id: `review-${id}-${percentile.toLowerCase()}`,
        title: `${title}, ${percentile.toLowerCase()}`,
        unit: 'ms',
        subjects: [
          measured('bowline', LABEL, each('bowline')),
          measured('bare', 'bare node:https server with a constant response', each('bare')),
        ],
      },
      percentile === 'P99' ? [{ id: target, subject: 'bowline', against: 'bare', bound: 'at most', limit: 3 }] : [],
    );
  });
}

function pathOfWebhook(name: string): string {
  const webhook = ztwim.webhooks.find((each) => each.name === name);
  if (!webhook) throw new Error(`the operator has no webhook ${name}`);
  return webhookPath(ztwim.name, webhook);
}

/** bodiesOf returns the reviews of the creation of a SpireServer as a user sends it, and as the first webhook has filled it in. */
async function bodiesOf({ api }: ZtwimScene): Promise<Readonly<Record<'inherit' | 'review', readonly string[]>>> {
  const stored = JSON.parse(await api.ok('GET', pathOf(SpireServer))) as {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
    readonly spec: object;
  };
  const { annotations } = stored.metadata;
  const {
    trustDomain: _t,
    clusterName: _c,
    bundleConfigMap: _b,
    jwtIssuer: _j,
    ...sent
  } = stored.spec as Record<string, unknown>;
  const repeated = (metadata: object, spec: object): readonly string[] =>
    Array.from({ length: distinctReviews }, (_, index) => creationReview(index, serverWith(metadata, spec)));
  return { inherit: repeated({}, sent), review: repeated({ annotations }, stored.spec) };
}

function serverWith(metadata: object, spec: object): ReviewedObject {
  const { group, version, kind, plural } = SpireServer;
  const object = { apiVersion: `${group}/${version}`, kind, metadata: { ...metadata, name: 'cluster' }, spec };
  return { group, version, kind, resource: plural, object };
}
