import type { Difference } from './differences.ts';
import { type NormalisedResponse, withQuoted } from './normalise.ts';
import type { Step } from './step.ts';

/** Found is a difference and where it was found. */
export interface Found extends Difference {
  readonly case: string;
  readonly step: Step;
  /** The complete responses. */
  readonly responses: { readonly real: NormalisedResponse; readonly ours: NormalisedResponse };
}

/** KnownDifference is an intentional or irrelevant difference. */
export interface KnownDifference {
  readonly name: string;
  readonly reason: string;
  isOf(found: Found): boolean;
  /** Whether only one server has changed its state: later steps cannot be compared. Defaults to false. */
  readonly endsCase?: boolean;
}

/** asText returns a value as text: a difference can be anywhere in a response. */
const asText = (value: unknown): string => JSON.stringify(value) ?? '';
const isMessage = (path: string): boolean => path === 'body.message' || path.startsWith('body.details.causes');
const isDiscovery = ({ case: name }: Found): boolean => name.includes('discovery');

const CAUSES = 'body.details.causes.';

/** causeOf returns the problem that a difference is about: a field and its message. */
function causeOf({ path }: Difference): string | undefined {
  return path.startsWith(CAUSES) ? path.slice(CAUSES.length) : undefined;
}

function causesOf({ body }: NormalisedResponse): Readonly<Record<string, unknown>> {
  return (body as { details?: { causes?: Readonly<Record<string, unknown>> } }).details?.causes ?? {};
}

/**
 * isWordedDifferently returns whether both servers report the problem with the same reason, and with the same message once `essence`
 * has removed what is known to differ. Another field or message does not match.
 */
function isWordedDifferently(found: Found, essence: (text: string) => string): boolean {
  const { path, real, ours, responses } = found;
  const text = causeOf(found);
  if (text === undefined)
    return path === 'body.message' && typeof real === 'string' && essence(real) === essence(String(ours));
  const [own, other] = [responses.real, responses.ours].map(causesOf);
  const [here = {}, there = {}] = ours === undefined ? [own, other] : [other, own];
  return Object.entries(there).some(
    ([each, reason]) => reason === here[text] && !(each in here) && essence(each) === essence(text),
  );
}

/** withoutManagers removes the managers of a quoted object from a message. */
function withoutManagers(text: string): string {
  return withQuoted(text, (object) => {
    const { metadata, ...rest } = object as { readonly metadata?: object };
    return { ...rest, metadata: { ...metadata, managedFields: undefined } };
  });
}

const isApply = ({ headers }: Step): boolean => headers?.['content-type'] === 'application/apply-patch+yaml';

/** isAbsent returns whether only the real server reports something. */
const isAbsent = ({ ours }: Found): boolean => ours === undefined;

const UNCHECKED =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** Messages of the decoders of a strategic merge patch, of either server. */
const OF_MAPS =
  /^(patch: Invalid value: "map\[.*\]": )(?:error decoding from json: )?(?:illegal base64 data at input byte \d+|cannot convert \w+ to [\w.]+|cannot restore \w+ from \w+|unrecognized type: \w+)$/s;

/** Warnings that only the real server sends. */
const OF_NAMES =
  /^299 - "(metadata\.name: this is used in (the Pod's hostname|Pod names and hostnames), which can result in surprising behavior; a DNS label is recommended: |spec\.(template\.spec\.)?containers\[\d+\]\.env\[\d+\]: hides previous definition of )/;

/** KNOWN lists all known differences: at most 40, and each must still occur. */
export const KNOWN: readonly KnownDifference[] = [
  {
    name: 'version',
    reason: '/version identifies a different program',
    isOf: ({ step, path }) => /^\/version/.test(step.path) && /^body\.(git|go|compiler|platform)/.test(path),
  },
  {
    name: 'kinds that are not served',
    reason: 'kinds and subresources that are not needed here are omitted from discovery and return 404',
    isOf: (found) => isDiscovery(found) && isAbsent(found) && /^body\.(resources|groups|items)\./.test(found.path),
  },
  {
    name: 'hash of the storage version',
    reason: 'the real server stores CustomResourceDefinitions in an older version',
    isOf: (found) => isDiscovery(found) && found.path.endsWith('storageVersionHash'),
  },
  {
    name: 'addresses of nameless Services',
    reason: 'the real server allocates an address in the name of the Service before it checks whether there is a name',
    isOf: ({ case: name, path }) =>
      name === 'invalid values of a Service' && isMessage(path) && /IPAddress|metadata\.name: Required/.test(path),
  },
  {
    name: 'keys of etcd',
    reason: 'messages of the real server contain the key in etcd, which does not exist here',
    isOf: ({ path, real }) => path === 'body.message' && asText(real).includes('Key: /registry/'),
  },
  {
    name: 'differences of Pods and claims',
    reason: 'the real server prints the difference of a forbidden change of a spec, in terms of its internal types',
    isOf: (found) =>
      isWordedDifferently(found, (text) =>
        text.replace(
          /^(spec: Forbidden: (?:pod updates may not change [^\n]+ previously negative\)|spec is immutable after creation except [^\n]+ for bound claims))\n.*$/s,
          '$1',
        ),
      ),
  },
  {
    name: 'template generation of DaemonSets',
    reason: 'an annotation of a removed version; the real server returns and owns it in some responses only',
    isOf: ({ case: name, path, real, ours }) =>
      asText([path, real, ours]).includes('deprecated.daemonset') ||
      (/DaemonSet|daemonset/.test(path) && path.includes('annotations')) ||
      (/DaemonSet/.test(name) && /f:annotations\.\./.test(path)),
  },
  {
    name: 'templates in messages about Jobs',
    reason: 'the real server prints the template of a Job in the format of its internal types',
    isOf: (found) =>
      /\/jobs\//.test(found.step.path) &&
      isWordedDifferently(found, (text) =>
        text.replace(/^(spec\.template: Invalid value: )\{.*\}(: field is immutable)$/s, '$1TEMPLATE$2'),
      ),
  },
  {
    name: 'Jobs orphan their Pods',
    reason:
      'batch/v1 keeps the Pods of a Job by default for old clients; here they are deleted with it, as kubectl requests',
    // How soon they are orphaned and the Job is deleted depends on the garbage collector.
    isOf: ({ case: name, step, path }) =>
      name === 'lifecycle of a Job' && (step.method === 'DELETE' || (step.method === 'GET' && path === 'code')),
  },
  {
    name: 'names of PodDisruptionBudgets',
    reason: 'the real server accepts any name for them; a name that is invalid for other kinds is rejected here',
    isOf: ({ case: name, path, ours }) =>
      name === 'invalid values of a PodDisruptionBudget' && path === 'code' && asText(ours).includes('"code":422'),
  },
  {
    name: 'rules that were not checked',
    reason: 'we report skipped rules if the content is invalid, but not if the metadata is',
    isOf: (found) =>
      isAbsent(found) &&
      causeOf(found) === UNCHECKED &&
      Object.keys(causesOf(found.responses.ours)).every((cause) => cause.startsWith('metadata.')),
  },
  {
    name: 'watch=x',
    reason:
      'the real server neither waits nor sends anything; here every value but false starts a watch from the beginning',
    isOf: ({ step }) => step.path.includes('watch=x'),
  },
  {
    name: 'formats and older forms',
    reason: 'tables and metadata are of version v1: v1beta1 and lists of one are rejected or returned unconverted',
    isOf: ({ case: name, path }) => name === 'forms' && /^(code|body\.(message|details))/.test(path),
  },
  {
    name: 'form of bookmarks',
    reason: 'a bookmark is always an object here, whatever format was requested: clients read only its version',
    isOf: ({ case: name, path }) =>
      name === 'a watch of existing objects' && /object\.(kind|apiVersion|rows|columnDefinitions|metadata)/.test(path),
  },
  {
    name: 'managers of quoted objects',
    reason: 'messages of the real server quote an object with its managed fields; ours omit them in some places',
    isOf: (found) => isWordedDifferently(found, withoutManagers),
  },
  {
    name: 'patches that change the kind',
    reason: 'a patch cannot change the kind of a built-in object here: the change is ignored, not rejected',
    isOf: ({ case: name, step, path }) =>
      path === 'code' &&
      /^(JSON|merge) patches$/.test(name) &&
      /"(kind|apiVersion)":"|"\/(kind|apiVersion)"/.test(asText(step.body)),
  },
  {
    name: 'managedFields set to nothing',
    reason: 'an empty list of managers of a custom resource clears them here too, as it does for built-in kinds',
    isOf: ({ path, real, step }) =>
      path === 'body.metadata.managedFields' && real !== undefined && /widgets/.test(step.path),
  },
  {
    name: 'YAML',
    reason: 'another parser: YAML 1.2, in which yes is a string, one document, and different error messages',
    isOf: ({ case: name, path, ours, step }) =>
      name === 'bodies in YAML' ||
      (typeof step.body === 'string' && isMessage(path) && asText(ours).includes('yaml: ')),
  },
  {
    name: 'phases of namespaces',
    reason: 'the phase that a client writes is not validated: the namespace controller writes the right one',
    isOf: ({ step, path }) => path === 'code' && /namespaces\/OWN\/status/.test(step.path),
  },
  {
    name: 'empty maps in messages',
    reason: 'an empty map and no map are the same here: messages print one for the other',
    isOf: (found) =>
      isWordedDifferently(found, (text) =>
        text.replace(/: Invalid value: (\{\}|null): /, ': Invalid value: NOTHING: '),
      ),
  },
  {
    name: 'messages about expressions',
    reason: 'another CEL parser: position and problem are reported with different messages',
    isOf: (found) => isWordedDifferently(found, (text) => text.replace(/\bERROR: .*$/s, 'ERROR')),
  },
  {
    name: 'owner of no rules',
    reason: 'the rules of a Role have an owner here even if there are none, and applying some conflicts with it',
    isOf: ({ path, ours, responses }) =>
      (path.includes('managedFields') && asText(ours).includes('f:rules')) ||
      (path === 'code' &&
        responses.real.code !== 409 &&
        /^\.rules: conflict with "[\w-]+" using rbac\.authorization\.k8s\.io\/v1$/.test(
          Object.keys(causesOf(responses.ours)).join(),
        )),
    endsCase: true,
  },
  {
    name: 'names of Go types',
    reason:
      'messages about values of the wrong type name the types of Go, where some strings and maps have named types, and nested types',
    isOf: (found) =>
      isWordedDifferently(found, (text) =>
        text
          .replace(/of type v\d\.ResourceList$/, 'of type map[string]string')
          .replace(/of type v\d\.\w+(?=$|: )/, 'of type string')
          .replace(/\.(VolumeSource|ProbeHandler|LocalObjectReference)(?=\.)/, ''),
      ),
  },
  {
    name: 'messages about strategic merge patches',
    reason: 'the undecodable part of a patch is reported with the messages of a JSON decoder, not of a map decoder',
    isOf: (found) => isWordedDifferently(found, (text) => text.replace(OF_MAPS, '$1WORDS')),
  },
  {
    name: 'which problem comes first',
    reason:
      'of several undecodable values the real server reports the first in the order of the patched object; we report types first',
    isOf: (found) =>
      isWordedDifferently(found, (text) =>
        text.replace(
          /^(patch: Invalid value: "(?:[^"\\]|\\.)*": )(?:illegal base64 data|quantities must match|json: cannot unmarshal) .*$/s,
          '$1PROBLEM',
        ),
      ) && !/: json: cannot/.test(Object.keys(causesOf(found.responses.real)).join('\n')),
  },
  {
    name: 'another kind as a scale',
    reason:
      'the real server does not know the kind of its own scale of custom resources, and decodes other kinds before it rejects them',
    isOf: ({ step, path, real, ours }) =>
      path === 'body.message' &&
      step.path.includes('/scale') &&
      (asText(real).includes('no kind is registered for the type v1.Scale') ||
        (/ cannot be handled as a Scale: json: cannot unmarshal /.test(asText(real)) &&
          / cannot be handled as a Scale: converting \([\w.]+\) to \(autoscaling\.Scale\): unknown conversion"$/.test(
            asText(ours),
          ))),
  },
  {
    name: 'the scale of a custom resource as a table',
    reason: 'not needed by any client: it is returned unconverted',
    isOf: ({ step, responses: { real, ours } }) =>
      /\/widgets\/[^/]+\/scale$/.test(step.path) && kindOf(real) === 'Table' && kindOf(ours) === 'Scale',
  },
  {
    name: 'lists of bytes',
    reason: 'the real server reads a list of numbers as bytes where base64 text is expected',
    isOf: (found) =>
      (found.path === 'code' && /\[\]/.test(asText(found.step.body)) && /secrets|configmaps/.test(found.step.path)) ||
      isWordedDifferently(found, (text) =>
        text.replace(/cannot unmarshal \w+ (into Go struct field [\w.]+) of type (?:\[\])?uint8$/, '$1 BYTES'),
      ),
  },
  {
    name: 'applied bytes that are not base64',
    reason: 'a client error, which the real server reports as an internal error',
    isOf: ({ path, real, ours }) =>
      path === 'code' && asText(real).includes('failed to convert new object') && asText(ours).includes('"code":400'),
  },
  {
    name: 'apply of a scale',
    reason: 'field ownership of a scale is not recorded here, so nothing can be applied to it',
    isOf: ({ step, path, ours }) =>
      path === 'code' && step.path.includes('/scale?') && asText(ours).includes('"code":415'),
  },
  {
    name: 'numbers out of range',
    reason: 'a number that does not fit into a float is rejected when it is decoded, wherever it is',
    isOf: ({ step }) => asText(step.body).includes('1e400'),
  },
  {
    name: 'duplicate kind fields',
    reason: 'a body with a duplicate kind field is rejected for the kind before the duplicate',
    isOf: ({ case: name, path, real }) =>
      name === 'strict bodies' && path === 'code' && asText(real).includes('duplicate field'),
  },
  {
    name: 'field of data that is too long',
    reason: 'the real server calls the whole object [] here',
    isOf: (found) =>
      isWordedDifferently(found, (text) =>
        text.replace(/^(\[\])?(?=: Too long: may not be more than 1048576 bytes$)/, ''),
      ),
  },
  {
    name: 'creation at the path of a custom resource',
    reason: 'it is not allowed, which we report before we read the body',
    isOf: ({ step, path }) => path === 'code' && step.method === 'POST' && /widgets\/a$/.test(step.path),
  },
  {
    name: 'warnings about names and variables',
    reason: 'the real server warns about names that are not valid host names, and about duplicate variables',
    isOf: ({ path, real, ours }) => {
      const warnings = (value: unknown): string[] => (typeof value === 'string' ? value.split(/, (?=299 - )/) : []);
      const rest = warnings(real).filter((each) => !OF_NAMES.test(each));
      return path === 'warning' && rest.join() === warnings(ours).join();
    },
  },
  {
    name: 'Services created by a status write',
    reason:
      'the real server creates a Service without an address from a status written before the Service exists; here it is not found',
    isOf: ({ step, path, ours }) =>
      path === 'code' &&
      /^\/api\/v1\/namespaces\/[^/]+\/services\/[^/]+\/status/.test(step.path) &&
      (step.method === 'PUT' || isApply(step)) &&
      asText(ours).includes('"reason":"NotFound"'),
    endsCase: true,
  },
  {
    name: 'descriptions in OpenAPI',
    reason:
      "documents have no descriptions of built-in kinds, which are Kubernetes' own text, and fewer paths; enums and required fields are the same, and test/kubectl compares what kubectl explain makes of them",
    isOf: ({ case: name, path }) =>
      name.startsWith('OpenAPI') &&
      /^body\.(?:info|paths|components)\./.test(path) &&
      !/\.(?:enum|required)$/.test(path),
  },
  {
    name: 'applied nulls',
    reason: 'null in an applied custom resource is treated as absent here; the real server validates it as a value',
    isOf: (found) =>
      /\/widgets\//.test(found.step.path) &&
      isApply(found.step) &&
      asText(found.step.body).includes(':null') &&
      (found.path === 'code'
        ? found.responses.real.code === 422 && Object.keys(causesOf(found.responses.real)).some(isOfNull)
        : isAbsent(found) && (causeOf(found) === UNCHECKED || isOfNull(causeOf(found) ?? ''))),
    endsCase: true,
  },
];

const isOfNull = (cause: string): boolean =>
  / in body must be of type [\w-]+: "null"$|: Unsupported value: null: supported values: /.test(cause);

function kindOf({ body }: NormalisedResponse): unknown {
  return (body as { readonly kind?: unknown } | undefined)?.kind;
}
