sbxc: nothing was written: add -y to write this
write  TMP/work/only-go.mod/sandbox/only-go-mod.sbx
    | # Proposed by 'sbxc init' from: go.mod
    | #     sbxc build -o sandbox/only-go-mod.bin sandbox/only-go-mod.sbx
    | #     sbxrun sandbox/only-go-mod.bin -- COMMAND
    | sbx 1
    | 
    | profile only-go-mod extends coding {
    |     about "What commands of only-go-mod may do"
    | 
    |     # The policy is no business of those whom it confines.
    |     deny write  ${workspace}/sandbox
    | 
    |     # Modules of Go.
    |     # allow network domain { "proxy.golang.org"  "sum.golang.org" }
    | }
write  TMP/work/only-go.mod/sandbox/only-go-mod.test.yaml
    | # sbxc test sandbox/only-go-mod.test.yaml
    | sbx-test: 1
    | policy: only-go-mod.sbx
    | given: { workspace: /src/project, home: /home/user }
    | cases:
    |   - allow: write ${workspace}/file
    |   - deny: write ${workspace}/sandbox/only-go-mod.sbx
    |   - deny: [ read ~/.ssh/id_rsa, read ~/.aws/credentials ]
    |   - deny: [ write /etc/passwd, write ~/.bashrc ]
