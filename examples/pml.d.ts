// Types of what a program sees in PML, written by "pml types".

/** The tools of each server: `mcp.<server>.<tool>(args)`. */
export interface Mcp {
  readonly everything: {
    /** Echoes back the input string */
    echo(args: {
      /** Message to echo */
      message: string;
    }): Promise<unknown>;
    /** Demonstrates how annotations can be used to provide metadata about content. */
    "get-annotated-message"(args: {
      /** Type of message to demonstrate different annotation patterns */
      messageType: "error" | "success" | "debug";
      /** Whether to include an example image */
      includeImage?: boolean;
    }): Promise<unknown>;
    /** Returns all environment variables, helpful for debugging MCP server configuration */
    "get-env"(): Promise<unknown>;
    /** Returns up to ten resource links that reference different types of resources */
    "get-resource-links"(args?: {
      /** Number of resource links to return (1-10) */
      count?: number;
    }): Promise<unknown>;
    /** Returns a resource reference that can be used by MCP clients */
    "get-resource-reference"(args?: {
      resourceType?: "Text" | "Blob";
      /** ID of the text resource to fetch */
      resourceId?: number;
    }): Promise<unknown>;
    /**
     * Lists the current MCP roots provided by the client. Demonstrates the roots protocol capability even
     * though this server doesn't access files.
     */
    "get-roots-list"(): Promise<unknown>;
    /** Returns structured content along with an output schema for client data validation */
    "get-structured-content"(args: {
      /** Choose city */
      location: "New York" | "Chicago" | "Los Angeles";
    }): Promise<{
      /** Temperature in celsius */
      temperature: number;
      /** Weather conditions description */
      conditions: string;
      /** Humidity percentage */
      humidity: number;
    }>;
    /**
     * Returns the sum of two numbers
     * @returns What was observed: no type is declared.
     */
    "get-sum"(args: {
      /** First number */
      a: number;
      /** Second number */
      b: number;
    }): Promise<string>;
    /** Returns a tiny MCP logo image. */
    "get-tiny-image"(): Promise<unknown>;
    /**
     * Compresses a single file using gzip compression. Depending upon the selected output type, returns
     * either the compressed data as a gzipped resource or a resource link, allowing it to be downloaded in
     * a subsequent request during the current session.
     */
    "gzip-file-as-resource"(args?: {
      /** Name of the output file */
      name?: string;
      /** URL or data URI of the file content to compress */
      data?: string;
      /**
       * How the resulting gzipped file should be returned. 'resourceLink' returns a link to a resource that
       * can be read later, 'resource' returns a full resource object.
       */
      outputType?: "resourceLink" | "resource";
    }): Promise<unknown>;
    /**
     * Simulates a deep research operation that gathers, analyzes, and synthesizes information.
     * Demonstrates MCP task-based operations with progress through multiple stages. If 'ambiguous' is true
     * and client supports elicitation, sends an elicitation request for clarification.
     */
    "simulate-research-query"(args: {
      /** The research topic to investigate */
      topic: string;
      /** Simulate an ambiguous query that requires clarification (triggers input_required status) */
      ambiguous?: boolean;
    }): Promise<unknown>;
    /** Toggles simulated, random-leveled logging on or off. */
    "toggle-simulated-logging"(): Promise<unknown>;
    /** Toggles simulated resource subscription updates on or off. */
    "toggle-subscriber-updates"(): Promise<unknown>;
    /** Trigger a Request from the Server for User Elicitation */
    "trigger-elicitation-request"(): Promise<unknown>;
    /** Demonstrates a long running operation with progress updates. */
    "trigger-long-running-operation"(args?: {
      /** Duration of the operation in seconds */
      duration?: number;
      /** Number of steps in the operation */
      steps?: number;
    }): Promise<unknown>;
    /** Trigger a Request from the Server for LLM Sampling */
    "trigger-sampling-request"(args: {
      /** The prompt to send to the LLM */
      prompt: string;
      /** Maximum number of tokens to generate */
      maxTokens?: number;
    }): Promise<unknown>;
    /**
     * Trigger a URL elicitation so the client can direct the user to a browser flow. Supports two
     * mechanisms: the request path (elicitation/create, default) which awaits the user's response, and the
     * error path (UrlElicitationRequiredError, -32042) which signals the client to handle URL elicitation
     * via the error response. Set errorPath=true to use the error path.
     */
    "trigger-url-elicitation"(args: {
      /** The URL the user should open */
      url: string;
      /** Message shown to the user before opening the URL */
      message?: string;
      /** Optional explicit elicitation ID. Defaults to a random UUID. */
      elicitationId?: string;
      /**
       * Controls which elicitation mechanism is used. When false (default), sends an elicitation/create
       * request (request path). When true, throws a UrlElicitationRequiredError (MCP error code -32042) so
       * the client handles the URL elicitation via the error path rather than waiting for a response. To
       * clear the error, satisfy the prerequisite and retry this call with the same arguments; the retry
       * ignores errorPath and proceeds, so the client does not loop on the same error.
       */
      errorPath?: boolean;
    }): Promise<unknown>;
  };
  readonly filesystem: {
    /**
     * Create a new directory or ensure a directory exists. Can create multiple nested directories in one
     * operation. If the directory already exists, this operation will succeed silently. Perfect for
     * setting up directory structures for projects or ensuring required paths exist. Only works within
     * allowed directories.
     */
    create_directory(args: {
      path: string;
    }): Promise<{
      content: string;
    }>;
    /**
     * Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name',
     * 'type' (file/directory), and 'children' for directories. Files have no children array, while
     * directories always have a children array (which may be empty). The output is formatted with 2-space
     * indentation for readability. Only works within allowed directories.
     */
    directory_tree(args: {
      path: string;
      excludePatterns?: string[];
    }): Promise<{
      content: string;
    }>;
    /**
     * Make line-based edits to a text file. Each edit replaces exact line sequences with new content.
     * Returns a git-style diff showing the changes made. Only works within allowed directories.
     */
    edit_file(args: {
      path: string;
      edits: {
        /** Text to search for - must match exactly */
        oldText: string;
        /** Text to replace with */
        newText: string;
      }[];
      /** Preview changes using git-style diff format */
      dryRun?: boolean;
    }): Promise<{
      content: string;
    }>;
    /**
     * Retrieve detailed metadata about a file or directory. Returns comprehensive information including
     * size, creation time, last modified time, permissions, and type. This tool is perfect for
     * understanding file characteristics without reading the actual content. Only works within allowed
     * directories.
     */
    get_file_info(args: {
      path: string;
    }): Promise<{
      content: string;
    }>;
    /**
     * Returns the list of directories that this server is allowed to access. Subdirectories within these
     * allowed directories are also accessible. Use this to understand which directories and their nested
     * paths are available before trying to access files.
     */
    list_allowed_directories(): Promise<{
      content: string;
    }>;
    /**
     * Get a detailed listing of all files and directories in a specified path. Results clearly distinguish
     * between files and directories with [FILE] and [DIR] prefixes. This tool is essential for
     * understanding directory structure and finding specific files within a directory. Only works within
     * allowed directories.
     */
    list_directory(args: {
      path: string;
    }): Promise<{
      content: string;
    }>;
    /**
     * Get a detailed listing of all files and directories in a specified path, including sizes. Results
     * clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is
     * useful for understanding directory structure and finding specific files within a directory. Only
     * works within allowed directories.
     */
    list_directory_with_sizes(args: {
      path: string;
      /** Sort entries by name or size */
      sortBy?: "name" | "size";
    }): Promise<{
      content: string;
    }>;
    /**
     * Move or rename files and directories. Can move files between directories and rename them in a single
     * operation. If the destination exists, the operation will fail. Works across different directories
     * and can be used for simple renaming within the same directory. Both source and destination must be
     * within allowed directories.
     */
    move_file(args: {
      source: string;
      destination: string;
    }): Promise<{
      content: string;
    }>;
    /** Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead. */
    read_file(args: {
      path: string;
      /** If provided, returns only the last N lines of the file */
      tail?: number;
      /** If provided, returns only the first N lines of the file */
      head?: number;
    }): Promise<{
      content: string;
    }>;
    /**
     * Read a file and return it as a base64-encoded content block with its MIME type. Image and audio
     * files are returned as image/audio content; any other file type is returned as an embedded resource.
     * Only works within allowed directories.
     */
    read_media_file(args: {
      path: string;
    }): Promise<{
      content: ({
        type: "image" | "audio";
        data: string;
        mimeType: string;
      } | {
        type: "resource";
        resource: {
          uri: string;
          mimeType?: string;
          blob: string;
        };
      })[];
    }>;
    /**
     * Read the contents of multiple files simultaneously. This is more efficient than reading files one by
     * one when you need to analyze or compare multiple files. Each file's content is returned with its
     * path as a reference. Failed reads for individual files won't stop the entire operation. Only works
     * within allowed directories.
     */
    read_multiple_files(args: {
      /**
       * Array of file paths to read. Each path must be a string pointing to a valid file within allowed
       * directories.
       */
      paths: string[];
    }): Promise<{
      content: string;
    }>;
    /**
     * Read the complete contents of a file from the file system as text. Handles various text encodings
     * and provides detailed error messages if the file cannot be read. Use this tool when you need to
     * examine the contents of a single file. Use the 'head' parameter to read only the first N lines of a
     * file, or the 'tail' parameter to read only the last N lines of a file. Operates on the file as text
     * regardless of extension. Only works within allowed directories.
     */
    read_text_file(args: {
      path: string;
      /** If provided, returns only the last N lines of the file */
      tail?: number;
      /** If provided, returns only the first N lines of the file */
      head?: number;
    }): Promise<{
      content: string;
    }>;
    /**
     * Recursively search for files and directories matching a pattern. The patterns should be glob-style
     * patterns that match paths relative to the working directory. Use pattern like '*.ext' to match files
     * in current directory, and '** /*.ext' to match files in all subdirectories. Returns full paths to
     * all matching items. Great for finding files when you don't know their exact location. Only searches
     * within allowed directories.
     */
    search_files(args: {
      path: string;
      pattern: string;
      excludePatterns?: string[];
    }): Promise<{
      content: string;
    }>;
    /**
     * Create a new file or completely overwrite an existing file with new content. Use with caution as it
     * will overwrite existing files without warning. Handles text content with proper encoding. Only works
     * within allowed directories.
     */
    write_file(args: {
      path: string;
      content: string;
    }): Promise<{
      content: string;
    }>;
  };
  readonly memory: {
    /** Add new observations to existing entities in the knowledge graph */
    add_observations(args: {
      observations: {
        /** The name of the entity to add the observations to */
        entityName: string;
        /** An array of observation contents to add */
        contents: string[];
      }[];
    }): Promise<{
      results: {
        entityName: string;
        addedObservations: string[];
      }[];
    }>;
    /** Create multiple new entities in the knowledge graph */
    create_entities(args: {
      entities: {
        /** The name of the entity */
        name: string;
        /** The type of the entity */
        entityType: string;
        /** An array of observation contents associated with the entity */
        observations: string[];
      }[];
    }): Promise<{
      entities: {
        /** The name of the entity */
        name: string;
        /** The type of the entity */
        entityType: string;
        /** An array of observation contents associated with the entity */
        observations: string[];
      }[];
    }>;
    /**
     * Create multiple new relations between entities in the knowledge graph. Relations should be in active
     * voice
     */
    create_relations(args: {
      relations: {
        /** The name of the entity where the relation starts */
        from: string;
        /** The name of the entity where the relation ends */
        to: string;
        /** The type of the relation */
        relationType: string;
      }[];
    }): Promise<{
      relations: {
        /** The name of the entity where the relation starts */
        from: string;
        /** The name of the entity where the relation ends */
        to: string;
        /** The type of the relation */
        relationType: string;
      }[];
    }>;
    /** Delete multiple entities and their associated relations from the knowledge graph */
    delete_entities(args: {
      /** An array of entity names to delete */
      entityNames: string[];
    }): Promise<{
      success: boolean;
      message: string;
    }>;
    /** Delete specific observations from entities in the knowledge graph */
    delete_observations(args: {
      deletions: {
        /** The name of the entity containing the observations */
        entityName: string;
        /** An array of observations to delete */
        observations: string[];
      }[];
    }): Promise<{
      success: boolean;
      message: string;
    }>;
    /** Delete multiple relations from the knowledge graph */
    delete_relations(args: {
      /** An array of relations to delete */
      relations: {
        /** The name of the entity where the relation starts */
        from: string;
        /** The name of the entity where the relation ends */
        to: string;
        /** The type of the relation */
        relationType: string;
      }[];
    }): Promise<{
      success: boolean;
      message: string;
    }>;
    /** Open specific nodes in the knowledge graph by their names */
    open_nodes(args: {
      /** An array of entity names to retrieve */
      names: string[];
    }): Promise<{
      entities: {
        /** The name of the entity */
        name: string;
        /** The type of the entity */
        entityType: string;
        /** An array of observation contents associated with the entity */
        observations: string[];
      }[];
      relations: {
        /** The name of the entity where the relation starts */
        from: string;
        /** The name of the entity where the relation ends */
        to: string;
        /** The type of the relation */
        relationType: string;
      }[];
    }>;
    /** Read the entire knowledge graph */
    read_graph(): Promise<{
      entities: {
        /** The name of the entity */
        name: string;
        /** The type of the entity */
        entityType: string;
        /** An array of observation contents associated with the entity */
        observations: string[];
      }[];
      relations: {
        /** The name of the entity where the relation starts */
        from: string;
        /** The name of the entity where the relation ends */
        to: string;
        /** The type of the relation */
        relationType: string;
      }[];
    }>;
    /** Search for nodes in the knowledge graph based on a query */
    search_nodes(args: {
      /** The search query to match against entity names, types, and observation content */
      query: string;
    }): Promise<{
      entities: {
        /** The name of the entity */
        name: string;
        /** The type of the entity */
        entityType: string;
        /** An array of observation contents associated with the entity */
        observations: string[];
      }[];
      relations: {
        /** The name of the entity where the relation starts */
        from: string;
        /** The name of the entity where the relation ends */
        to: string;
        /** The type of the relation */
        relationType: string;
      }[];
    }>;
  };
  readonly thinking: {
    /**
     * A detailed tool for dynamic and reflective problem-solving through thoughts. This tool helps analyze
     * problems through a flexible thinking process that can adapt and evolve. Each thought can build on,
     * question, or revise previous insights as understanding deepens. When to use this tool: - Breaking
     * down complex problems into steps - Planning and design with room for revision - Analysis that might
     * need course correction - Problems where the full scope might not be clear initially - Problems that
     * require a multi-step solution - Tasks that need to maintain context over multiple steps - Situations
     * where irrelevant information needs to be filtered out Key features: - You can adjust total_thoughts
     * up or down as you progress - You can question or revise previous thoughts - You can add more
     * thoughts even after reaching what seemed like the end - You can express uncertainty and explore
     * alternative approaches - Not every thought needs to build linearly - you can branch or backtrack -
     * Generates a…
     */
    sequentialthinking(args: {
      /** Your current thinking step */
      thought: string;
      /** Whether another thought step is needed */
      nextThoughtNeeded: boolean | string;
      /** Current thought number (numeric value, e.g., 1, 2, 3) */
      thoughtNumber: number;
      /** Estimated total thoughts needed (numeric value, e.g., 5, 10) */
      totalThoughts: number;
      /** Whether this revises previous thinking */
      isRevision?: boolean | string;
      /** Which thought is being reconsidered */
      revisesThought?: number;
      /** Branching point thought number */
      branchFromThought?: number;
      /** Branch identifier */
      branchId?: string;
      /** If more thoughts are needed */
      needsMoreThoughts?: boolean | string;
    }): Promise<{
      thoughtNumber: number;
      totalThoughts: number;
      nextThoughtNeeded: boolean;
      branches: string[];
      thoughtHistoryLength: number;
    }>;
  };
}

/** What PML learned from past runs: `capabilities.<slug>(args)`. */
export interface Capabilities {
  /**
   * Add pairs, with everything:get-sum.
   * @returns What was observed: no type is declared.
   */
  add_pairs(): Promise<number>;
  /**
   * Connect engineers, with filesystem:read_text_file, memory:create_relations, memory:add_observations
   * and memory:open_nodes.
   * @returns What was observed: no type is declared.
   */
  connect_engineers(args?: {
    /** path of filesystem:read_text_file */
    path?: string;
  }): Promise<{
    entities: {
      name: string;
      entityType: string;
      observations: string[];
    }[];
    relations: {
      from: string;
      to: string;
      relationType: string;
    }[];
  }>;
  /**
   * Measure notes, with filesystem:list_directory and filesystem:get_file_info.
   * @returns What was observed: no type is declared.
   */
  measure_notes(args?: {
    /** path of filesystem:list_directory */
    path?: string;
  }): Promise<{
    name: string;
    bytes: number;
  }[]>;
  /**
   * Remember engineers, with filesystem:read_text_file, memory:create_entities and memory:search_nodes.
   * @returns What was observed: no type is declared.
   */
  remember_engineers(args?: {
    /** path of filesystem:read_text_file */
    path?: string;
    /** query of memory:search_nodes */
    query?: string;
  }): Promise<{
    entities: {
      name: string;
      entityType: string;
      observations: string[];
    }[];
    relations: unknown[];
  }>;
  /**
   * Summarise notes, with filesystem:list_directory, filesystem:read_text_file and
   * filesystem:write_file.
   * @returns What was observed: no type is declared.
   */
  summarise_notes(args?: {
    /** path of filesystem:list_directory */
    path?: string;
    /** path of filesystem:write_file */
    write_file_path?: string;
  }): Promise<{
    files: number;
    headings: string[];
  }>;
  /**
   * Write page, with memory:search_nodes, memory:open_nodes and filesystem:write_file.
   * @returns What was observed: no type is declared.
   */
  write_page(args: {
    /** query of memory:search_nodes */
    query: string;
    /** names of memory:open_nodes */
    names: string[];
    /** path of filesystem:write_file */
    path: string;
    /** content of filesystem:write_file */
    content: string;
  }): Promise<{
    content: string;
  }>;
  /**
   * Write weekly report, with filesystem:list_directory, filesystem:read_text_file,
   * memory:create_entities, filesystem:write_file and memory:search_nodes.
   * @returns What was observed: no type is declared.
   */
  write_weekly_report(args?: {
    /** path of filesystem:read_text_file */
    path?: string;
    /** path of filesystem:write_file */
    write_file_path?: string;
  }): Promise<{
    notes: number;
    names: string[];
  }>;
}

declare global {
  const mcp: Mcp;
  const capabilities: Capabilities;
  /** The arguments of the run. */
  const args: Readonly<Record<string, any>>;
  /** In a task of a workflow: the results of the tasks it depends on, by their ids. */
  const deps: Readonly<Record<string, any>>;
  /** Its lines are returned with the result. */
  interface Console {
    log(...values: unknown[]): void;
    info(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
    debug(...values: unknown[]): void;
  }
  var console: Console;
  /** What a failing tool or capability throws. */
  interface CallError extends Error {
    readonly code: string;
    readonly errorType?: string;
    /** Which one, as `server:tool`. */
    readonly tool?: string;
    readonly capability?: string;
  }
}
