/**
 * CommandInput is content that a command reads from a file, from standard input or from the terminal: a secret, a
 * document, binary data. It is never an argument, because other processes can read the arguments of a process.
 *
 * The input `pin` has the flag `--pin-file FILE`; `-` stands for standard input.
 */
export interface CommandInput {
  /** One line for the help. */
  readonly summary: string;
  /** The size limit. More is an error before the command runs. For a keyed input: of all its files together. */
  readonly maxBytes: number;
  /**
   * A question, such as `New PIN`, that is asked on the terminal if the flag is not set. The answer is one line and is
   * not displayed, so a line break at the end of the file is not part of the content. Defaults to no question.
   */
  readonly prompt?: string | undefined;
  /** Whether it may be omitted; it is then undefined, and not asked for. Defaults to false. */
  readonly optional?: boolean | undefined;
  /**
   * Whether the flag can be repeated, as `[KEY=]FILE`, as in `kubectl create secret --from-file`. The key defaults to
   * the file's name. It may be omitted. Defaults to false.
   */
  readonly keyed?: boolean | undefined;
  /**
   * Whether it consists of Kubernetes objects, in YAML or JSON, in any number of documents and Lists. The flag is
   * `-f, --filename`, as in kubectl, and can be repeated. At least one file is required. Defaults to false.
   */
  readonly manifests?: boolean | undefined;
  /** Whether the help omits it. Defaults to false. */
  readonly hidden?: boolean | undefined;
}

/** CommandInputs are the inputs of a command by name. */
export type CommandInputs = Readonly<Record<string, CommandInput>>;

/** KeyedContent is one file of a keyed input. */
export interface KeyedContent {
  readonly key: string;
  readonly content: Buffer;
}

/** CommandManifest is one object of manifests, as a user wrote it: without defaults, and not validated. */
export interface CommandManifest {
  readonly object: Readonly<Record<string, unknown>>;
  /** The name of the file, or `standard input`. */
  readonly file: string;
  /**
   * lineOf returns the line of a field, such as `spec.ports[0].name`, or of its nearest parent that exists. Without a
   * field it returns the first line of the object.
   */
  lineOf(field?: string): number;
}

/** InputValues holds the contents of a command's inputs. The program overwrites buffers when the command has ended. */
export type InputValues<I extends CommandInputs> = {
  readonly [K in keyof I]: I[K] extends { readonly keyed: true }
    ? readonly KeyedContent[]
    : I[K] extends { readonly manifests: true }
      ? readonly CommandManifest[]
      : I[K] extends { readonly optional: true }
        ? Buffer | undefined
        : Buffer;
};

/** CommandTerminal asks questions whose number is not known in advance; otherwise declare an input. */
export interface CommandTerminal {
  /**
   * ask asks a question and returns the answer. Rejects with BOWLINE_TERMINAL_MISSING if standard input is not a
   * terminal; the message recommends the alternative, for example `pass --yes`.
   */
  ask(question: string, options: { readonly alternative: string }): Promise<string>;
  /** askSecret is `ask` for a secret: the answer is not displayed. */
  askSecret(question: string, options: { readonly alternative: string }): Promise<Buffer>;
}
