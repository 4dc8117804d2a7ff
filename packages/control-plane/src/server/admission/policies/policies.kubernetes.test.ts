import { systemClock } from '@bowline/machinery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BothServers, bothServers, type ServerResponses } from '../../authorization/both-servers.test-support.ts';
import { ADMIN } from '../../authorization/guarded-server.test-support.ts';
import { CASES, RULE } from './policy-cases.test-support.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/NS/configmaps';
const DRY = '?dryRun=All';
const HERE = { matchLabels: { 'kubernetes.io/metadata.name': 'NS' } };
/** The real server may still apply the policy of an earlier case when parameters are created. */
const NO_PARAMS = { matchExpressions: [{ key: 'param', operator: 'DoesNotExist' }] };

let servers: BothServers;
beforeAll(async () => {
  servers = await bothServers({ admits: true, clock: systemClock });
});
afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

async function create(path: string, object: object): Promise<() => Promise<unknown>> {
  const responses = await servers.both(ADMIN, 'POST', path, object);
  expect([responses.real.code, responses.ours.code], JSON.stringify(responses)).toEqual([201, 201]);
  const { name } = (object as { readonly metadata: { readonly name: string } }).metadata;
  return () => servers.both(ADMIN, 'DELETE', `${path}/${name}`);
}

const decision = ({ real, ours }: ServerResponses) => {
  const { code, body } = real;
  const denied = ({ body: { message, reason, details } }: typeof real) => ({ message, reason, details });
  return { real: { code, ...denied(real) }, ours: { code: ours.code, ...denied(ours) }, body };
};

describe('policies decide as on the real server', () => {
  it.each(CASES.map((each, index) => ({ ...each, policyName: `OWN-p${index}` })))('$sentence', async (given) => {
    const { policyName, policy, bindings = [{}], params = [], creates } = given;
    const undo: (() => Promise<unknown>)[] = [];
    try {
      for (const { name, data } of params)
        undo.push(await create(MAPS, { metadata: { name, labels: { param: 'yes' } }, data }));
      // The real server denies what a policy matches if the policy cannot be configured, whatever its bindings match.
      const matchConstraints = { resourceRules: [RULE], objectSelector: NO_PARAMS, namespaceSelector: HERE };
      const spec = { matchConstraints, ...policy };
      undo.push(await create(`${GROUP}/validatingadmissionpolicies`, { metadata: { name: policyName }, spec }));
      for (const [index, binding] of bindings.entries()) {
        const { matchResources } = binding as { readonly matchResources?: object };
        const here = { namespaceSelector: HERE, ...matchResources };
        const whole = { policyName, validationActions: ['Deny'], ...binding, matchResources: here };
        const metadata = { name: `${policyName}-b${index}` };
        undo.push(await create(`${GROUP}/validatingadmissionpolicybindings`, { metadata, spec: whole }));
      }
      for (const [index, data] of creates.entries()) {
        const object = { metadata: { name: `OWN-${index}` }, data };
        const attempt = async () => decision(await servers.both(ADMIN, 'POST', `${MAPS}${DRY}`, object));
        // The real server applies a policy, and what it refers to, with a delay.
        await expect
          .poll(
            async () => {
              const { real, ours } = await attempt();
              return JSON.stringify(real) === JSON.stringify(ours);
            },
            { timeout: 8_000, interval: 100 },
          )
          .toBe(true)
          .catch(() => undefined);
        const { real, ours } = await attempt();
        expect(ours, `create ${JSON.stringify(data)}`).toEqual(real);
        if (index === 0) expect(real.code).toBeGreaterThan(299);
      }
    } finally {
      for (const each of undo.reverse()) await each();
    }
  });

  it('policies do not apply to policies and webhook configurations', async () => {
    const kinds = [
      'validatingwebhookconfigurations',
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
    ];
    const rule = { ...RULE, resourceNames: ['OWN-exempt'] };
    const others = { ...rule, apiGroups: ['admissionregistration.k8s.io'], resources: kinds };
    const spec = { matchConstraints: { resourceRules: [rule, others] }, validations: [{ expression: 'false' }] };
    const binding = { policyName: 'OWN-all', validationActions: ['Deny'] };
    const undo = [
      await create(`${GROUP}/validatingadmissionpolicies`, { metadata: { name: 'OWN-all' }, spec }),
      await create(`${GROUP}/validatingadmissionpolicybindings`, { metadata: { name: 'OWN-all' }, spec: binding }),
    ];
    try {
      const named = { metadata: { name: 'OWN-exempt' } };
      const attempt = async (path: string, object: object) =>
        decision(await servers.both(ADMIN, 'POST', `${path}${DRY}`, { ...named, ...object }));
      await expect.poll(async () => (await attempt(MAPS, {})).real.code, { timeout: 8_000 }).toBe(422);
      for (const [index, object] of [{}, { spec }, { spec: binding }].entries()) {
        const { real, ours } = await attempt(`${GROUP}/${kinds[index]}`, object);
        expect(ours, kinds[index]).toEqual(real);
      }
    } finally {
      for (const each of undo) await each();
    }
  });
});
