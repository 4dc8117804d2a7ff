import type { Difference } from './differences.ts';
import { type Said, withQuoted } from './normalise.ts';
import type { Step } from './step.ts';

/** Found is a difference and where it was found. */
export interface Found extends Difference {
  readonly case: string;
  readonly step: Step;
  /** The whole answers. */
  readonly answers: { readonly real: Said; readonly ours: Said };
}

/** KnownDifference is where we answer otherwise on purpose, or do not mind. */
export interface KnownDifference {
  readonly name: string;
  readonly reason: string;
  isOf(found: Found): boolean;
  /** Whether one server has changed something then and the other has not: what comes later cannot be compared. Defaults to false. */
  readonly endsCase?: boolean;
}

/** said is the text of a value: what a difference is about can be anywhere in an answer. */
const said = (value: unknown): string => JSON.stringify(value) ?? '';
const isMessage = (path: string): boolean => path === 'body.message' || path.startsWith('body.details.causes');
const isDiscovery = ({ case: name }: Found): boolean => name.includes('discovery');

const CAUSES = 'body.details.causes.';

/** causeOf is the problem that a difference is about: a field and what is said of it. */
function causeOf({ path }: Difference): string | undefined {
  return path.startsWith(CAUSES) ? path.slice(CAUSES.length) : undefined;
}

function causesOf({ body }: Said): Readonly<Record<string, unknown>> {
  return (body as { details?: { causes?: Readonly<Record<string, unknown>> } }).details?.causes ?? {};
}

/**
 * isSaidOtherwise: both servers tell of the problem, for the same reason, and what they say is the same once `essence` has taken
 * out of it what is known to differ. Another field, or other words, are not.
 */
function isSaidOtherwise(found: Found, essence: (text: string) => string): boolean {
  const { path, real, ours, answers } = found;
  const text = causeOf(found);
  if (text === undefined)
    return path === 'body.message' && typeof real === 'string' && essence(real) === essence(String(ours));
  const [own, other] = [answers.real, answers.ours].map(causesOf);
  const [here = {}, there = {}] = ours === undefined ? [own, other] : [other, own];
  return Object.entries(there).some(
    ([each, reason]) => reason === here[text] && !(each in here) && essence(each) === essence(text),
  );
}

/** withoutManagers leaves out of a message who manages the object that it quotes. */
function withoutManagers(text: string): string {
  return withQuoted(text, (object) => {
    const { metadata, ...rest } = object as { readonly metadata?: object };
    return { ...rest, metadata: { ...metadata, managedFields: undefined } };
  });
}

const isApply = ({ headers }: Step): boolean => headers?.['content-type'] === 'application/apply-patch+yaml';

/** isAbsent: the real server says something and we say nothing there. */
const isAbsent = ({ ours }: Found): boolean => ours === undefined;

const UNCHECKED =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** What the decoders of a strategic merge patch say, in the words of either server. */
const OF_MAPS =
  /^(patch: Invalid value: "map\[.*\]": )(?:error decoding from json: )?(?:illegal base64 data at input byte \d+|cannot convert \w+ to [\w.]+|cannot restore \w+ from \w+|unrecognized type: \w+)$/s;

/** Warnings of the real server that are not given here. */
const OF_NAMES =
  /^299 - "(metadata\.name: this is used in (the Pod's hostname|Pod names and hostnames), which can result in surprising behavior; a DNS label is recommended: |spec\.(template\.spec\.)?containers\[\d+\]\.env\[\d+\]: hides previous definition of )/;

/** KNOWN are all of them: at most 40, and each must still be found. */
export const KNOWN: readonly KnownDifference[] = [
  {
    name: 'version',
    reason: 'we are another program: /version names it',
    isOf: ({ step, path }) => /^\/version/.test(step.path) && /^body\.(git|go|compiler|platform)/.test(path),
  },
  {
    name: 'kinds that are not served',
    reason: 'kinds and subresources that nobody here needs are left out of discovery and answered with 404',
    isOf: (found) => isDiscovery(found) && isAbsent(found) && /^body\.(resources|groups|items)\./.test(found.path),
  },
  {
    name: 'hash of the storage version',
    reason: 'the real server stores CustomResourceDefinitions in an older version',
    isOf: (found) => isDiscovery(found) && found.path.endsWith('storageVersionHash'),
  },
  {
    name: 'addresses of nameless Services',
    reason: 'the real server allocates an address in the name of the Service before it looks whether there is one',
    isOf: ({ case: name, path }) =>
      name === 'what a Service must not be' && isMessage(path) && /IPAddress|metadata\.name: Required/.test(path),
  },
  {
    name: 'keys of etcd',
    reason: 'messages of the real server name the key in etcd, which there is none of here',
    isOf: ({ path, real }) => path === 'body.message' && said(real).includes('Key: /registry/'),
  },
  {
    name: 'differences of Pods',
    reason: 'the real server shows how a forbidden change of a Pod differs, in the words of its internal types',
    isOf: (found) =>
      isSaidOtherwise(found, (text) =>
        text.replace(/^(spec: Forbidden: pod updates may not change [^\n]+ previously negative\))\n.*$/s, '$1'),
      ),
  },
  {
    name: 'protection of claims',
    reason: 'no controller here would remove the finalizer of claims in use',
    isOf: ({ path, real }) => path.endsWith('finalizers') && said(real).includes('kubernetes.io/pvc-protection'),
  },
  {
    name: 'template generation of DaemonSets',
    reason: 'an annotation of a version that is gone; the real server shows and owns it in some answers only',
    isOf: ({ case: name, path, real, ours }) =>
      said([path, real, ours]).includes('deprecated.daemonset') ||
      (/DaemonSet|daemonset/.test(path) && path.includes('annotations')) ||
      (/DaemonSet/.test(name) && /f:annotations\.\./.test(path)),
  },
  {
    name: 'templates in messages about Jobs',
    reason: 'the real server shows the template of a Job as its internal types write it',
    isOf: (found) =>
      /\/jobs\//.test(found.step.path) &&
      isSaidOtherwise(found, (text) =>
        text.replace(/^(spec\.template: Invalid value: )\{.*\}(: field is immutable)$/s, '$1TEMPLATE$2'),
      ),
  },
  {
    name: 'Jobs orphan their Pods',
    reason: 'batch/v1 keeps the Pods of a Job by default for old clients; here they go with it, as kubectl asks for',
    // How soon they are orphaned, and the Job is gone, is up to the garbage collector.
    isOf: ({ case: name, step, path }) =>
      name === 'the life of a Job' && (step.method === 'DELETE' || (step.method === 'GET' && path === 'code')),
  },
  {
    name: 'names of PodDisruptionBudgets',
    reason: 'the real server takes any name for them; a name that no other kind could have is refused here',
    isOf: ({ case: name, path, ours }) =>
      name === 'what a PodDisruptionBudget must not be' && path === 'code' && said(ours).includes('"code":422'),
  },
  {
    name: 'rules that were not checked',
    reason: 'we say that rules were skipped where the content is invalid, not where the metadata is',
    isOf: (found) =>
      isAbsent(found) &&
      causeOf(found) === UNCHECKED &&
      Object.keys(causesOf(found.answers.ours)).every((cause) => cause.startsWith('metadata.')),
  },
  {
    name: 'watch=x',
    reason:
      'the real server waits for nothing and sends nothing; here everything but a no is a watch from the beginning',
    isOf: ({ step }) => step.path.includes('watch=x'),
  },
  {
    name: 'formats and older forms',
    reason: 'tables and metadata are of version v1: v1beta1 and lists of one are refused or written as they are',
    isOf: ({ case: name, path }) => name === 'forms' && /^(code|body\.(message|details))/.test(path),
  },
  {
    name: 'form of bookmarks',
    reason: 'a bookmark is an object here, whatever form was asked for: clients read its version alone',
    isOf: ({ case: name, path }) =>
      name === 'a watch of what is there' && /object\.(kind|apiVersion|rows|columnDefinitions|metadata)/.test(path),
  },
  {
    name: 'managers of quoted objects',
    reason:
      'messages of the real server quote an object with who manages its fields; ours leave that out in some places',
    isOf: (found) => isSaidOtherwise(found, withoutManagers),
  },
  {
    name: 'patches that change the kind',
    reason: 'a patch cannot make another kind of a built-in object here: the change is ignored, not refused',
    isOf: ({ case: name, step, path }) =>
      path === 'code' &&
      /^(JSON|merge) patches$/.test(name) &&
      /"(kind|apiVersion)":"|"\/(kind|apiVersion)"/.test(said(step.body)),
  },
  {
    name: 'managedFields set to nothing',
    reason: 'an empty list of managers of a custom resource forgets them here too, as it does for built-in kinds',
    isOf: ({ path, real, step }) =>
      path === 'body.metadata.managedFields' && real !== undefined && /widgets/.test(step.path),
  },
  {
    name: 'YAML',
    reason: 'another reader: YAML 1.2, in which yes is a text, one document, and errors in its own words',
    isOf: ({ case: name, path, ours, step }) =>
      name === 'bodies in YAML' || (typeof step.body === 'string' && isMessage(path) && said(ours).includes('yaml: ')),
  },
  {
    name: 'phases of namespaces',
    reason: 'the phase that a client writes is not judged: the namespace controller writes the right one',
    isOf: ({ step, path }) => path === 'code' && /namespaces\/OWN\/status/.test(step.path),
  },
  {
    name: 'empty maps in messages',
    reason: 'an empty map and none are the same to us: messages show one for the other',
    isOf: (found) =>
      isSaidOtherwise(found, (text) => text.replace(/: Invalid value: (\{\}|null): /, ': Invalid value: NOTHING: ')),
  },
  {
    name: 'classes of claims',
    reason: 'the real server lets the class of a claim be set once later; here the spec is fixed',
    isOf: ({ step, path }) => path === 'code' && /persistentvolumeclaims/.test(step.path),
  },
  {
    name: 'words about expressions',
    reason: 'another parser of CEL: the place and the problem are named, in its own words',
    isOf: (found) => isSaidOtherwise(found, (text) => text.replace(/\bERROR: .*$/s, 'ERROR')),
  },
  {
    name: 'owner of no rules',
    reason: 'the rules of a Role have an owner here even if there are none, and an apply of some is a conflict with it',
    isOf: ({ path, ours, answers }) =>
      (path.includes('managedFields') && said(ours).includes('f:rules')) ||
      (path === 'code' &&
        answers.real.code !== 409 &&
        /^\.rules: conflict with "[\w-]+" using rbac\.authorization\.k8s\.io\/v1$/.test(
          Object.keys(causesOf(answers.ours)).join(),
        )),
    endsCase: true,
  },
  {
    name: 'names of Go types',
    reason:
      'messages about values of the wrong type name the types of Go, where a few texts and maps have names of their own, and types within types',
    isOf: (found) =>
      isSaidOtherwise(found, (text) =>
        text
          .replace(/of type v\d\.ResourceList$/, 'of type map[string]string')
          .replace(/of type v\d\.\w+(?=$|: )/, 'of type string')
          .replace(/\.(VolumeSource|ProbeHandler|LocalObjectReference)(?=\.)/, ''),
      ),
  },
  {
    name: 'words about strategic merge patches',
    reason: 'what of a patch cannot be read is named in the words of a reader of JSON, not of maps',
    isOf: (found) => isSaidOtherwise(found, (text) => text.replace(OF_MAPS, '$1WORDS')),
  },
  {
    name: 'which problem comes first',
    reason:
      'of several values that cannot be read the real server names the first, as the patched object has them; we name types first',
    isOf: (found) =>
      isSaidOtherwise(found, (text) =>
        text.replace(
          /^(patch: Invalid value: "(?:[^"\\]|\\.)*": )(?:illegal base64 data|quantities must match|json: cannot unmarshal) .*$/s,
          '$1PROBLEM',
        ),
      ) && !/: json: cannot/.test(Object.keys(causesOf(found.answers.real)).join('\n')),
  },
  {
    name: 'another kind as a scale',
    reason:
      'the real server does not know the kind of its own scale of custom resources, and reads other kinds before it refuses them',
    isOf: ({ step, path, real, ours }) =>
      path === 'body.message' &&
      step.path.includes('/scale') &&
      (said(real).includes('no kind is registered for the type v1.Scale') ||
        (/ cannot be handled as a Scale: json: cannot unmarshal /.test(said(real)) &&
          / cannot be handled as a Scale: converting \([\w.]+\) to \(autoscaling\.Scale\): unknown conversion"$/.test(
            said(ours),
          ))),
  },
  {
    name: 'the scale of a custom resource as a table',
    reason: 'nobody looks at one: it is written as what it is',
    isOf: ({ step, answers: { real, ours } }) =>
      /\/widgets\/[^/]+\/scale$/.test(step.path) && kindOf(real) === 'Table' && kindOf(ours) === 'Scale',
  },
  {
    name: 'lists of bytes',
    reason: 'the real server reads a list of numbers as bytes where text in base64 is meant',
    isOf: (found) =>
      (found.path === 'code' && /\[\]/.test(said(found.step.body)) && /secrets|configmaps/.test(found.step.path)) ||
      isSaidOtherwise(found, (text) =>
        text.replace(/cannot unmarshal \w+ (into Go struct field [\w.]+) of type (?:\[\])?uint8$/, '$1 BYTES'),
      ),
  },
  {
    name: 'applied bytes that are no base64',
    reason: 'a mistake of the client: the real server takes it for a failure of its own',
    isOf: ({ path, real, ours }) =>
      path === 'code' && said(real).includes('failed to convert new object') && said(ours).includes('"code":400'),
  },
  {
    name: 'apply of a scale',
    reason: 'who owns fields of a scale is not recorded here, so nothing can be applied to one',
    isOf: ({ step, path, ours }) =>
      path === 'code' && step.path.includes('/scale?') && said(ours).includes('"code":415'),
  },
  {
    name: 'numbers beyond all bounds',
    reason: 'a number that no float holds is refused when it is read, wherever it stands',
    isOf: ({ step }) => said(step.body).includes('1e400'),
  },
  {
    name: 'kinds that stand twice',
    reason: 'a body that says two kinds is refused for the kind before the repetition',
    isOf: ({ case: name, path, real }) =>
      name === 'strict bodies' && path === 'code' && said(real).includes('duplicate field'),
  },
  {
    name: 'field of data that is too long',
    reason: 'the real server calls the whole object [] here',
    isOf: (found) =>
      isSaidOtherwise(found, (text) => text.replace(/^(\[\])?(?=: Too long: may not be more than 1048576 bytes$)/, '')),
  },
  {
    name: 'creation at the path of a custom resource',
    reason: 'it is not allowed, which we say before we read the body',
    isOf: ({ step, path }) => path === 'code' && step.method === 'POST' && /widgets\/a$/.test(step.path),
  },
  {
    name: 'warnings about names and variables',
    reason: 'the real server warns of names that hosts cannot have, and of variables that stand twice',
    isOf: ({ path, real, ours }) => {
      const warnings = (value: unknown): string[] => (typeof value === 'string' ? value.split(/, (?=299 - )/) : []);
      const rest = warnings(real).filter((each) => !OF_NAMES.test(each));
      return path === 'warning' && rest.join() === warnings(ours).join();
    },
  },
  {
    name: 'Services that their status makes',
    reason:
      'the real server makes a Service, without an address, of a status that is written before there is one; here it is not found',
    isOf: ({ step, path, ours }) =>
      path === 'code' &&
      /^\/api\/v1\/namespaces\/[^/]+\/services\/[^/]+\/status/.test(step.path) &&
      (step.method === 'PUT' || isApply(step)) &&
      said(ours).includes('"reason":"NotFound"'),
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
    name: 'nulls that are applied',
    reason:
      'null in what is applied to a custom resource is the same as nothing here; the real server judges it as a value',
    isOf: (found) =>
      /\/widgets\//.test(found.step.path) &&
      isApply(found.step) &&
      said(found.step.body).includes(':null') &&
      (found.path === 'code'
        ? found.answers.real.code === 422 && Object.keys(causesOf(found.answers.real)).some(isOfNull)
        : isAbsent(found) && (causeOf(found) === UNCHECKED || isOfNull(causeOf(found) ?? ''))),
    endsCase: true,
  },
];

const isOfNull = (cause: string): boolean =>
  / in body must be of type [\w-]+: "null"$|: Unsupported value: null: supported values: /.test(cause);

function kindOf({ body }: Said): unknown {
  return (body as { readonly kind?: unknown } | undefined)?.kind;
}
