import { type Case, get, post, type Step } from '../step.ts';

const MAPS = '/api/v1/namespaces/NS/configmaps';
const WIDGETS = '/apis/proof.bowline.dev/v1/namespaces/NS/widgets';

const TEXTS = [
  '',
  'null',
  '{}',
  '[]',
  '5',
  '"x"',
  'true',
  'hello',
  '{"apiVersion":"v1"',
  '{"a":1,}',
  "{'a':1}",
  '{"a":01}',
  '{"a":1e400}',
  '{"a":"\\x"}',
  '{"a":"\n"}',
  '{"apiVersion":5}',
  '{"kind":{}}',
  '{"apiVersion":"a/b/c","kind":"x"}',
  '{"apiVersion":"v2","kind":"ConfigMap"}',
  '{"apiVersion":"apps/v1","kind":"Deployment"}',
  '{"apiVersion":"v1","kind":"Nope"}',
  '{"metadata":5}',
  '{"metadata":{"name":5}}',
  '{"metadata":{"labels":[]}}',
  '{"metadata":{"labels":{"a":1}}}',
  '{"metadata":{"name":"a","name":"b"}}',
  '{"metadata":{"creationTimestamp":"x","name":"a"}}',
  '{"metadata":{"generation":"x","name":"a"}}',
  '{"metadata":{"finalizers":"x","name":"a"}}',
  '{"metadata":{"ownerReferences":[5],"name":"a"}}',
  '{"metadata":{"name":"a"}} {}',
];

const YAMLS = [
  'a: b',
  '- a',
  'metadata:\n  name: yaml\ndata:\n  a: b\n',
  'metadata: {name: x, labels: {a: yes}}',
  '--- 1\n--- 2',
  'null',
];

const typed = (text: string): string =>
  text.startsWith('{"metadata"') ? text.replace('{', '{"apiVersion":"proof.bowline.dev/v1","kind":"Widget",') : text;

const QUERIES = [
  'dryRun=x',
  'dryRun=',
  'dryRun=All&dryRun=All',
  'fieldValidation=x',
  'fieldValidation=',
  `fieldManager=${'x'.repeat(129)}`,
  'fieldManager=%00',
  'pretty=x',
  'nope=1',
];

/** badInput covers malformed requests. */
export const badInput: readonly Case[] = [
  { name: 'bodies in JSON', steps: TEXTS.map((text) => post(`${MAPS}?dryRun=All`, text)) },
  {
    name: 'bodies of custom resources in JSON',
    steps: TEXTS.map((text) => post(`${WIDGETS}?dryRun=All`, typed(text))),
  },
  {
    name: 'strict bodies',
    steps: [
      '{"metadata":{"name":"a","name":"b"},"data":{"a":"1","a":"2"},"nope":1}',
      '{"metadata":{"name":"a"},"kind":"ConfigMap","kind":"ConfigMap"}',
    ].flatMap((text) => [
      post(`${MAPS}?dryRun=All&fieldValidation=Strict`, text),
      post(`${MAPS}?dryRun=All&fieldValidation=Warn`, text),
      post(`${WIDGETS}?dryRun=All&fieldValidation=Strict`, typed(text)),
    ]),
  },
  {
    name: 'bodies in YAML',
    steps: YAMLS.map((text) => post(`${MAPS}?dryRun=All`, text, { 'content-type': 'application/yaml' })),
  },
  {
    name: 'types of bodies',
    steps: [
      'text/plain',
      'application/xml',
      'application/json; charset=utf-8',
      'application/JSON',
      'x',
      '',
      'application/cbor',
    ].flatMap((type): Step[] => [
      post(`${MAPS}?dryRun=All`, { metadata: { name: 'a' } }, { 'content-type': type }),
      post(
        `${WIDGETS}?dryRun=All`,
        { apiVersion: 'proof.bowline.dev/v1', kind: 'Widget', metadata: { name: 'a' } },
        { 'content-type': type },
      ),
    ]),
  },
  {
    name: 'options of writes',
    steps: QUERIES.map((query) => post(`${MAPS}?${query}`, { metadata: { generateName: 'a-' } })),
  },
  {
    name: 'names in paths',
    steps: ['a%25b', '%2e%2e', 'A', 'a%20b', 'x'.repeat(300), 'a%2fb', '%00'].flatMap((name) => [
      get(`${MAPS}/${name}`),
      get(`${WIDGETS}/${name}`),
    ]),
  },
  {
    name: 'limits',
    steps: [
      post(`${MAPS}?dryRun=All`, { metadata: { name: 'x'.repeat(253) } }),
      post(`${MAPS}?dryRun=All`, { metadata: { name: 'x'.repeat(254) } }),
      post(`${MAPS}?dryRun=All`, { metadata: { name: 'a', annotations: { a: 'x'.repeat(262_144) } } }),
      post(`${MAPS}?dryRun=All`, { metadata: { name: 'a' }, data: { a: 'x'.repeat(1_048_577) } }),
    ],
  },
];
