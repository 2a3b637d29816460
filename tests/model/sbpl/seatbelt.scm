;;; Reads profiles of macOS's sandbox and answers as its kernel would.
;;;
;;;	guile -s seatbelt.scm --ask PROFILE OPERATION OBJECT NAME=VALUE...
;;;	guile -s seatbelt.scm --compare STREAM
;;;
;;; The first prints "allow" or "deny".  NAME=VALUE are the parameters, as
;;; sandbox-exec -D gives them.  The second reads what tests/model/sbpl/
;;; questions.c writes: profiles, and questions with the answer of the model.  It
;;; prints each difference, and at the end how many there were.
;;;
;;; What a profile means was written down from these, by number in the comments
;;; below.  None of it could be tried on a Mac here.
;;;
;;; [1] Apple Sandbox Guide 1.0, fG!, 2011, reverse.put.as: operations, filters,
;;;     modifiers, "the last rule that matches".
;;; [2] The Apple Sandbox, D. Blazakis, Black Hat DC 2011: how libsandbox compiles
;;;     a profile; each operation has a list of its own, and falls back on that of
;;;     the wildcard above it.
;;; [3] macOS Sandbox SBPL Reference, dnesting.com, 2026: which operations and
;;;     filters the profiles of macOS 26 use, and with each other.
;;; [4] sandbox/mac/seatbelt_sandbox_design.md of Chromium: parameters, `define`,
;;;     paths after symbolic links.
;;; [5] codex-rs/core/src/seatbelt_base_policy.sbpl of codex, the Seatbelt
;;;     profiles of gemini-cli, src/sandbox/macos-sandbox-utils.ts of
;;;     Anthropic's sandbox-runtime: what is in production use.
;;;
;;; [1] and [5] say that of all rules that match the last decides.  [2] and
;;; people who tried say that a rule for one operation counts before rules for a
;;; wildcard, wherever they stand.  So both readings are tried, and the text must
;;; mean the same in both: `deciders`.
;;;
;;; The vocabulary is closed: an operation, a filter or a form that is not
;;; listed here is an error, `(import ...)` too, and so is a parameter that was
;;; not given.  What this cannot tell is whether macOS gives every process what
;;; it needs.

(use-modules (ice-9 match) (ice-9 rdelim) (ice-9 regex)
             (ice-9 textual-ports) (srfi srfi-1) (srfi srfi-9))

(define (fail . parts)
  (for-each (lambda (part) (display part (current-error-port))) parts)
  (newline (current-error-port))
  (exit 3))

;; #"...": a string in which a backslash means nothing, but for \" [1].
(read-hash-extend #\"
  (lambda (char port)
    (let loop ((chars '()))
      (let ((c (read-char port)))
        (cond ((eof-object? c) (fail "unterminated #\"\""))
              ((and (char=? c #\\) (eqv? (peek-char port) #\"))
               (loop (cons (read-char port) chars)))
              ((char=? c #\") (list->string (reverse chars)))
              (else (loop (cons c chars))))))))

;;; --- operations -----------------------------------------------------------

;; Each with the wildcards above it, the nearest first [1][3].  file-link,
;; file-ioctl and file-map-executable are no part of file-write* or file-read*.
(define operations
  '((file-read-data file-read* file*)
    (file-read-metadata file-read* file*)
    (file-read-xattr file-read* file*)
    (file-write-create file-write* file*)
    (file-write-data file-write* file*)
    (file-write-flags file-write* file*)
    (file-write-mode file-write* file*)
    (file-write-owner file-write* file*)
    (file-write-setugid file-write* file*)
    (file-write-times file-write* file*)
    (file-write-unlink file-write* file*)
    (file-write-xattr file-write* file*)
    (file-ioctl file*)
    (file-link file*)
    (file-map-executable file*)
    (file-mount file*)
    (process-exec process-exec* process*)
    (process-exec-interpreter process-exec* process*)
    (process-fork process*)
    (process-info-pidinfo process-info* process*)
    (pseudo-tty)
    (signal)
    (sysctl-read sysctl*)
    (sysctl-write sysctl*)
    (mach-lookup mach*)
    (mach-register mach*)
    (mach-host-info mach-host* mach*)
    (iokit-open iokit*)
    (ipc-posix-sem ipc-posix* ipc*)
    (ipc-posix-shm-read-data ipc-posix-shm-read* ipc-posix-shm* ipc-posix* ipc*)
    (ipc-posix-shm-write-data ipc-posix-shm* ipc-posix* ipc*)
    (network-bind network*)
    (network-inbound network*)
    (network-outbound network*)
    (system-socket system*)))

(define operation-names
  (delete-duplicates (apply append operations) eq?))

;;; --- text -----------------------------------------------------------------

(define params '())

(define (text-of expression)
  (match expression
    ((? string? text) text)
    (('param (? string? name))
     (or (assoc-ref params name) (fail "parameter " name " is not given")))
    (('string-append parts ...)
     (string-concatenate (map text-of parts)))
    (('regex-quote part) (regexp-quote (text-of part)))
    (_ (fail "no text: " expression))))

;; A path as macOS would take it: it must be absolute, with no slash at the end.
(define (path-of expression)
  (let ((path (text-of expression)))
    (if (or (not (string-prefix? "/" path))
            (and (string-suffix? "/" path) (not (string=? path "/")))
            (string-contains path "//"))
        (fail "no normal path: " path))
    path))

;; (define (NAME PARAMETER...) BODY): calls are replaced by the body [4].  A name
;; with a meaning of its own may not be given another.
(define vocabulary
  '(allow deny default define version param string-append literal subpath
    path-ancestors regex regex-quote require-all require-any require-not remote
    local target global-name sysctl-name ipc-posix-name socket-domain
    socket-protocol))

(define functions '())

(define (compile-define name parameters body)
  (if (or (memq name vocabulary) (memq name operation-names)
          (assq name functions))
      (fail "defined again: " name))
  (set! functions (acons name (cons parameters (expand body)) functions)))

(define (substitute values body)
  (cond ((pair? body) (cons (substitute values (car body))
                            (substitute values (cdr body))))
        ((assq body values) => cdr)
        (else body)))

(define (expand form)
  (match form
    (((? symbol? name) arguments ...)
     (let ((function (assq-ref functions name))
           (arguments (map expand arguments)))
       (cond ((not function) (cons name arguments))
             ((= (length arguments) (length (car function)))
              (substitute (map cons (car function) arguments)
                          (cdr function)))
             (else (fail "wrong number of arguments: " form)))))
    (_ form)))

;;; --- objects and filters --------------------------------------------------

;; What an operation is about: a kind, its text, and of an address the protocol
;; and the port.  The kinds are path, unix, address, name, target and none.
(define-record-type <object>
  (make-object kind text protocol port)
  object?
  (kind object-kind) (text object-text)
  (protocol object-protocol) (port object-port))

;; "/PATH", "unix:/PATH", "tcp:HOST:PORT", "udp:HOST:PORT", "name:NAME",
;; "target:TARGET" or "-".
(define (parse-object text)
  (let* ((colon (string-index text #\:))
         (kind (and colon (substring text 0 colon)))
         (rest (and colon (substring text (+ colon 1)))))
    (cond ((string-prefix? "/" text) (make-object 'path text #f #f))
          ((string=? text "-") (make-object 'none text #f #f))
          ((equal? kind "unix") (make-object 'unix rest #f #f))
          ((equal? kind "name") (make-object 'name rest #f #f))
          ((equal? kind "target") (make-object 'target rest #f #f))
          ((member kind '("tcp" "udp"))
           (match (string-split rest #\:)
             ((host port)
              (make-object 'address host (string->symbol kind) port))
             (_ (fail "no address: " text))))
          (else (fail "no object: " text)))))

;; Path filters also judge sockets in the file system [1][5].
(define (on-path test)
  (lambda (o)
    (and (memq (object-kind o) '(path unix)) (test (object-text o)))))

(define (below? root)
  (let ((inside (if (string=? root "/") root (string-append root "/"))))
    (lambda (path)
      (or (string=? path root) (string-prefix? inside path)))))

;; PROTOCOL is tcp, udp or ip, which is both; the host is * or localhost, and
;; nothing else can be written; the port is * or a number [1][3].
(define (address-filter protocol pattern)
  (match (string-split pattern #\:)
    (((and host (or "*" "localhost")) port)
     (if (not (or (string=? port "*")
                  (let ((number (string->number port)))
                    (and number (exact-integer? number)
                         (<= 0 number 65535)))))
         (fail "no port: " pattern))
     (lambda (o)
       (and (eq? (object-kind o) 'address)
            (or (eq? protocol 'ip) (eq? protocol (object-protocol o)))
            (or (string=? host "*") (string=? (object-text o) host))
            (or (string=? port "*") (string=? (object-port o) port)))))
    (_ (fail "no address: " pattern))))

(define (named kind name)
  (lambda (o)
    (and (eq? (object-kind o) kind) (string=? (object-text o) name))))

(define (conjunction filters)
  (match filters
    ((filter) filter)
    (_ (lambda (o) (every (lambda (f) (f o)) filters)))))

(define (disjunction filters)
  (match filters
    ((filter) filter)
    (_ (lambda (o) (any (lambda (f) (f o)) filters)))))

;; Filters are turned into procedures of the object asked about, once.  The
;; filters of a rule are alternatives [1].
(define (compile-filter filter)
  (match filter
    (('literal expression)
     (let ((at (path-of expression))) (on-path (lambda (p) (string=? p at)))))
    (('subpath expression) (on-path (below? (path-of expression))))
    (('path-ancestors expression)
     (let ((at (path-of expression)))
       (on-path (lambda (p)
                  (and ((below? p) at) (not (string=? p at)))))))
    ;; A match anywhere in the path, unless it is anchored [1].
    (('regex expression)
     (let ((compiled (make-regexp (text-of expression) regexp/extended)))
       (on-path (lambda (p) (and (regexp-exec compiled p) #t)))))
    (('require-all filters ..1) (conjunction (map compile-filter filters)))
    (('require-any filters ..1) (disjunction (map compile-filter filters)))
    (('require-not filter)
     (let ((inner (compile-filter filter))) (lambda (o) (not (inner o)))))
    (((or 'remote 'local) (and protocol (or 'tcp 'udp 'ip)))
     (address-filter protocol "*:*"))
    (((or 'remote 'local) (and protocol (or 'tcp 'udp 'ip))
      (? string? address))
     (address-filter protocol address))
    (('target (and target (or 'self 'same-sandbox)))
     (named 'target (symbol->string target)))
    (((or 'global-name 'sysctl-name 'ipc-posix-name) (? string? name))
     (named 'name name))
    ;; The domain of a socket is asked about by its name.
    (('socket-domain (? symbol? domain)) (named 'name (symbol->string domain)))
    (('socket-protocol (? number?)) (lambda (o) #t))
    (_ (fail "unknown filter: " filter))))

;; `remote` is for what goes out, `local` for what comes in [1].
(define (check-direction operation filter)
  (match filter
    (('remote . _)
     (if (not (eq? operation 'network-outbound))
         (fail "remote of " operation)))
    (('local . _)
     (if (not (memq operation '(network-bind network-inbound)))
         (fail "local of " operation)))
    (_ #t)))

;;; --- rules ----------------------------------------------------------------

(define-record-type <rule>
  (make-rule effect names matches?)
  rule?
  (effect rule-effect) (names rule-names) (matches? rule-matches?))

(define default #f)

(define (compile-rule form)
  (match form
    ((effect 'default)
     (if default (fail "a second default"))
     (set! default effect)
     #f)
    ((effect rest ..1)
     (call-with-values (lambda () (span symbol? rest))
       (lambda (names filters)
         (let ((filters (map expand filters)))
           (for-each (lambda (name)
                       (if (not (memq name operation-names))
                           (fail "unknown operation: " name))
                       (for-each (lambda (f) (check-direction name f)) filters))
                     names)
           (if (null? names) (fail "no operation: " form))
           (make-rule effect names
                      (if (null? filters)
                          (lambda (o) #t)
                          (disjunction (map compile-filter filters))))))))))

(define (compile-form form)
  (match form
    (('version 1) #f)
    (('define ((? symbol? name) (? symbol? parameters) ...) body)
     (compile-define name parameters body)
     #f)
    (((or 'allow 'deny) . _) (compile-rule form))
    (_ (fail "unknown form: " form))))

;; The rules of a text, the last one first.
(define (compile-profile text values)
  (set! params values)
  (set! functions '())
  (set! default #f)
  (let ((rules (call-with-input-string text
                 (lambda (port)
                   (let loop ((rules '()))
                     (let ((form (read port)))
                       (if (eof-object? form)
                           rules
                           (let ((rule (compile-form form)))
                             (loop (if rule (cons rule rules) rules))))))))))
    (if (not default) (fail "no default"))
    rules))

(define (decide rules names object)
  (let ((rule (find (lambda (r)
                      (and (any (lambda (n) (memq n names)) (rule-names r))
                           ((rule-matches? r) object)))
                    rules)))
    (and rule (rule-effect rule))))

(define (levels operation)
  (or (assq operation operations) (fail "no operation: " operation)))

;; Of all rules that match the last decides.
(define (decide-by-order rules operation object)
  (or (decide rules (levels operation) object) default))

;; Of the rules for this very operation the last that matches; then of those for
;; the wildcard above it, and so on.
(define (decide-by-operation rules operation object)
  (or (any (lambda (name) (decide rules (list name) object))
           (levels operation))
      default))

;; The readings may differ where the profile begins with what every process
;; needs, by operation, and takes it back by wildcard: see SECURITY.md.
(define (readings-differ? operation object)
  (or (eq? operation 'file-read-metadata)
      (equal? (object-text object) "/dev/dtracehelper")))

;;; --- asking ---------------------------------------------------------------

(define (definition text)
  (let ((at (or (string-index text #\=) (fail "no definition: " text))))
    (cons (substring text 0 at) (substring text (+ at 1)))))

(define (ask file operation object definitions)
  (let ((rules (compile-profile
                (call-with-input-file file get-string-all #:encoding "UTF-8")
                (map definition definitions))))
    (display (decide-by-order rules (string->symbol operation)
                              (parse-object object)))
    (newline)))

(define questions 0)
(define profiles 0)
(define differences 0)

(define (differs name question reading answer)
  (set! differences (+ differences 1))
  (if (<= differences 50)
      (format #t "~a: ~a; the profile, ~a: ~a\n" name
              (string-join question " ") reading answer)))

(define (compare-one rules name question)
  (match question
    ((expected operation object)
     (let* ((operation (string->symbol operation))
            (object (parse-object object))
            (expected (string->symbol expected))
            (by-order (decide-by-order rules operation object)))
       (set! questions (+ questions 1))
       (if (not (eq? by-order expected))
           (differs name question "by order" by-order))
       (unless (readings-differ? operation object)
         (let ((other (decide-by-operation rules operation object)))
           (if (not (eq? other expected))
               (differs name question "by operation" other))))))
    (_ (fail "no question: " question))))

(define (read-until port end)
  (let loop ((lines '()))
    (let ((line (read-line port)))
      (cond ((eof-object? line) (fail "no " end))
            ((string=? line end) (string-join (reverse lines) "\n"))
            (else (loop (cons line lines)))))))

;; The names of the parameters stand in a comment of the text, in order.
(define (parameter-names text)
  (let ((found (string-match "\n; parameters: ([^\n]*)\n" text)))
    (if found (string-tokenize (match:substring found 1)) '())))

(define (compare-profile port name)
  (let* ((values (string-split (read-line port) #\tab))
         (text (read-until port ";;; end"))
         (names (parameter-names text)))
    (if (not (= (length names) (length values)))
        (fail name ": " (length names) " parameters, not " (length values)))
    (let ((rules (compile-profile text (map cons names values))))
      (set! profiles (+ profiles 1))
      (let loop ()
        (let ((line (read-line port)))
          (cond ((eof-object? line) (fail "no end of questions"))
                ((string=? line "end"))
                (else (compare-one rules name (string-split line #\tab))
                      (loop))))))))

(define (compare port)
  (let loop ()
    (let ((line (read-line port)))
      (unless (eof-object? line)
        (compare-profile port line)
        (loop))))
  (format #t "~a questions about ~a profiles, ~a differences\n"
          questions profiles differences))

(define (main arguments)
  (match arguments
    ((_ "--ask" profile operation object definitions ...)
     (ask profile operation object definitions))
    ((_ "--compare" stream)
     (call-with-input-file stream compare #:encoding "UTF-8"))
    (_ (fail "usage: seatbelt.scm --ask PROFILE OPERATION OBJECT NAME=VALUE..."))))

(setlocale LC_ALL "C.UTF-8")
(set-port-encoding! (current-output-port) "UTF-8")
(main (command-line))
