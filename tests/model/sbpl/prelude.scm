;;; Reads a sandbox profile as macOS would and answers questions about it.
;;;
;;;	guile -s prelude.scm PROFILE QUESTIONS NAME=VALUE...
;;;
;;; PROFILE is the text of `sbxc dump -O sbpl`; NAME=VALUE are its parameters,
;;; as sandbox-exec -D gives them.  Each line of QUESTIONS is
;;;
;;;	OPERATION<TAB>OBJECT
;;;
;;; where OBJECT is a path, "tcp:PORT", "localhost:PORT" or "-"; the answer is
;;; the line with "allow" or "deny" and a tab before it.  The last rule that
;;; matches decides.
;;;
;;; The vocabulary is closed: an operation, a filter or a form that is not
;;; listed here is an error, and so is a parameter that was not given.  What
;;; this cannot tell is whether macOS gives every process what it needs.

(use-modules (ice-9 match) (ice-9 rdelim) (ice-9 regex) (srfi srfi-1))

(define (fail . parts)
  (for-each (lambda (part) (display part (current-error-port))) parts)
  (newline (current-error-port))
  (exit 1))

;; #"...": a string in which a backslash means nothing, but for \".
(read-hash-extend #\"
  (lambda (char port)
    (let loop ((chars '()))
      (let ((c (read-char port)))
        (cond ((eof-object? c) (fail "unterminated #\"\""))
              ((and (char=? c #\\) (eqv? (peek-char port) #\"))
               (loop (cons (read-char port) chars)))
              ((char=? c #\") (list->string (reverse chars)))
              (else (loop (cons c chars))))))))

(define operations
  '(file-read* file-read-data file-read-metadata file-read-xattr
    file-write* file-write-data file-write-create file-write-unlink
    file-write-mode file-write-owner file-write-flags file-write-times
    file-write-xattr file-write-setugid
    file-ioctl file-map-executable
    process-exec* process-exec process-exec-interpreter process-fork
    process-info* pseudo-tty signal
    sysctl-read sysctl-write mach-lookup mach-host*
    ipc-posix-sem ipc-posix-shm-read*
    network* network-outbound network-inbound network-bind system-socket))

;; A wildcard speaks of everything that begins with what stands before its
;; star; `file-read*` of `file-read-data`.
(define (operation-covers? rule asked)
  (let ((name (symbol->string rule)) (asked (symbol->string asked)))
    (if (string-suffix? "*" name)
        (string-prefix? (string-drop-right name 1) asked)
        (string=? name asked))))

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

(define (below? path root)
  (or (string=? root "/")
      (string=? path root)
      (string-prefix? (string-append root "/") path)))

;; A path as macOS would take it: it must be absolute, with no slash at the end.
(define (path-of expression)
  (let ((path (text-of expression)))
    (if (or (not (string-prefix? "/" path))
            (and (string-suffix? "/" path) (not (string=? path "/")))
            (string-contains path "//"))
        (fail "no normal path: " path))
    path))

(define (port-matches? pattern object)
  (match (string-split pattern #\:)
    (("localhost" "*") (string-prefix? "localhost:" object))
    (("*" "*") (or (string-prefix? "tcp:" object)
                   (string-prefix? "localhost:" object)))
    (("*" port)
     (if (not (string->number port)) (fail "no port: " pattern))
     (string=? object (string-append "tcp:" port)))
    (_ (fail "no address: " pattern))))

;; (define (NAME PARAMETER...) BODY): calls are replaced by the body.  A name
;; with a meaning of its own may not be given another.
(define vocabulary
  '(allow deny default define version param string-append literal subpath
    path-ancestors regex regex-quote require-all require-any require-not remote local
    target global-name sysctl-name ipc-posix-name socket-domain
    socket-protocol))

(define functions '())

(define (compile-define name parameters body)
  (if (or (memq name vocabulary) (memq name operations)
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

;; Filters are turned into procedures of the object asked about, once.
(define (compile-filter filter)
  (match filter
    (('literal expression)
     (let ((at (path-of expression))) (lambda (o) (string=? o at))))
    (('subpath expression)
     (let ((at (path-of expression))) (lambda (o) (below? o at))))
    (('path-ancestors expression)
     (let ((at (path-of expression)))
       (lambda (o) (and (string-prefix? "/" o) (below? at o)
                        (not (string=? o at))))))
    (('regex expression)
     (let ((compiled (make-regexp (text-of expression) regexp/extended)))
       (lambda (o) (and (regexp-exec compiled o) #t))))
    (('require-all filters ..1)
     (let ((all (map compile-filter filters)))
       (lambda (o) (every (lambda (f) (f o)) all))))
    (('require-any filters ..1)
     (let ((all (map compile-filter filters)))
       (lambda (o) (any (lambda (f) (f o)) all))))
    (('require-not filter)
     (let ((inner (compile-filter filter))) (lambda (o) (not (inner o)))))
    (((or 'remote 'local) (or 'tcp 'ip) (? string? address))
     (lambda (o) (port-matches? address o)))
    (('target (or 'self 'same-sandbox)) (lambda (o) #f))
    (((or 'global-name 'sysctl-name 'ipc-posix-name) (? string? name))
     (lambda (o) (string=? o name)))
    (('socket-domain (? symbol?)) (lambda (o) #f))
    (('socket-protocol (? number?)) (lambda (o) #f))
    (_ (fail "unknown filter: " filter))))

;; A rule: #(allow? operations filters), filters #f for "always".
(define default #f)

(define (compile-rule form)
  (match form
    ((effect 'default)
     (set! default effect)
     #f)
    ((effect rest ..1)
     (call-with-values (lambda () (span symbol? rest))
       (lambda (names filters)
         (for-each (lambda (name)
                     (if (not (memq name operations))
                         (fail "unknown operation: " name)))
                   names)
         (if (null? names) (fail "no operation: " form))
         (vector effect names
                 (and (pair? filters)
                      (map compile-filter (map expand filters)))))))))

(define (compile-form form)
  (match form
    (('version 1) #f)
    (('define ((? symbol? name) (? symbol? parameters) ...) body)
     (compile-define name parameters body)
     #f)
    (((or 'allow 'deny) . _) (compile-rule form))
    (_ (fail "unknown form: " form))))

(define (read-profile file)
  (call-with-input-file file
    (lambda (port)
      (let loop ((forms '()))
        (let ((form (read port)))
          (if (eof-object? form)
              (filter-map compile-form (reverse forms))
              (loop (cons form forms))))))
    #:encoding "UTF-8"))

(define (rule-matches? rule operation object)
  (and (any (lambda (name) (operation-covers? name operation))
            (vector-ref rule 1))
       (or (not (vector-ref rule 2))
           (any (lambda (f) (f object)) (vector-ref rule 2)))))

;; `rules` in reverse: the first that matches is the last of the profile.
(define (decide rules operation object)
  (let ((rule (find (lambda (r) (rule-matches? r operation object)) rules)))
    (if rule (vector-ref rule 0) default)))

(define (answer rules)
  (let loop ()
    (let ((line (read-line)))
      (unless (eof-object? line)
        (match (string-split line #\tab)
          ((operation object)
           (format #t "~a\t~a\n"
                   (decide rules (string->symbol operation) object) line))
          (_ (fail "no question: " line)))
        (loop)))))

(define (main arguments)
  (match arguments
    ((_ profile questions definitions ...)
     (set! params
           (map (lambda (text)
                  (let ((at (string-index text #\=)))
                    (cons (substring text 0 at) (substring text (+ at 1)))))
                definitions))
     (let ((rules (reverse (read-profile profile))))
       (if (not default) (fail "no default"))
       (with-input-from-file questions (lambda () (answer rules))
         #:encoding "UTF-8")))
    (_ (fail "usage: prelude.scm PROFILE QUESTIONS NAME=VALUE..."))))

(setlocale LC_ALL "C.UTF-8")
(set-port-encoding! (current-output-port) "UTF-8")
(main (command-line))
