"""English words of software as Korean and Japanese write them: ``업데이트``, ``アップデート`` for ``update``.

Who asks in these languages spells such words by their sound, while the note that answers may be in English.
So a query with one looks for both. Notes need no more keys for it, and a note in the language of the query is
found by its pairs as before.

The lists are of words that are common wherever software is made, written without looking at any store. Words
that mean something else in Korean or Japanese than in English, or that are as often a native word, are left
out.
"""

from __future__ import annotations

from typing import Final

_KOREAN = """
가비지=garbage 가이드=guide 게이트웨이=gateway 게임=game 고랭=golang 그라파나=grafana 그래프=graph
그룹=group 깃랩=gitlab 깃허브=github 노드=node 노트=note 다운로드=download 다이얼로그=dialog
대시보드=dashboard 데드락=deadlock 데몬=daemon 데이터=data 데이터베이스=database 도메인=domain 도커=docker
드라이버=driver 디렉터리=directory 디렉토리=directory 디버거=debugger 디버그=debug 디버깅=debugging
디스크=disk 디자인=design 라우터=router 라우팅=routing 라이브러리=library 라이선스=license 라이센스=license
랭킹=ranking 러스트=rust 레거시=legacy 레디스=redis 레이블=label 레이아웃=layout 레이턴시=latency
레지스트리=registry 레포=repo 레포지토리=repository 렌더링=rendering 로그=log 로그아웃=logout 로그인=login
로깅=logging 로더=loader 로딩=loading 로컬=local 롤백=rollback 루비=ruby 루트=root 루프=loop 리눅스=linux
리다이렉트=redirect 리뷰=review 리뷰어=reviewer 리소스=resource 리스트=list 리액트=react 리전=region
리팩터링=refactoring 리팩토링=refactoring 릴리스=release 릴리즈=release 링크=link 마이그레이션=migration
매크로=macro 매핑=mapping 머지=merge 메모리=memory 메서드=method 메소드=method 메시지=message 메일=mail
메타데이터=metadata 메트릭=metric 모니터링=monitoring 모델=model 모듈=module 모드=mode 모바일=mobile
몽고디비=mongodb 뮤텍스=mutex 미들웨어=middleware 바이너리=binary 바이트=byte 백그라운드=background
백업=backup 백엔드=backend 버그=bug 버전=version 버튼=button 버퍼=buffer 번들=bundle 벤치마크=benchmark
부트로더=bootloader 부팅=boot 브라우저=browser 브랜치=branch 블록=block 비디오=video 빌드=build
샌드박스=sandbox 샘플=sample 샤드=shard 샤딩=sharding 서버=server 서비스=service 세그먼트=segment
세션=session 셰이더=shader 소스=source 소켓=socket 소프트웨어=software 스냅샷=snapshot 스레드=thread
스위프트=swift 스크린샷=screenshot 스크립트=script 스키마=schema 스택=stack 스테이징=staging
스토리지=storage 스트리밍=streaming 스트림=stream 스파크=spark 스프린트=sprint 슬랙=slack 시드=seed
시리얼=serial 시뮬레이터=simulator 시스템=system 아이콘=icon 아이템=item 아카이브=archive
아키텍처=architecture 안드로이드=android 알고리즘=algorithm 애니메이션=animation 애플리케이션=application
앤서블=ansible 어댑터=adapter 언리얼=unreal 업그레이드=upgrade 업데이트=update 업로드=upload 에디터=editor
에러=error 에뮬레이터=emulator 에어플로=airflow 에이전트=agent 엑셀=excel 엔드포인트=endpoint 엔진=engine
엔진엑스=nginx 오라클=oracle 오버플로=overflow 오프라인=offline 온라인=online 온보딩=onboarding 옵션=option
우분투=ubuntu 워커=worker 워크플로=workflow 웹팩=webpack 웹훅=webhook 윈도우=windows 유니티=unity 유닛=unit
유저=user 이메일=email 이미지=image 이벤트=event 이슈=issue 인덱스=index 인스턴스=instance 인터뷰=interview
인터페이스=interface 인프라=infrastructure 임포트=import 자바=java 자바스크립트=javascript 장고=django
젠킨스=jenkins 카탈로그=catalog 카프카=kafka 캐릭터=character 캐시=cache 캘린더=calendar 커널=kernel
커넥션=connection 커밋=commit 컨버터=converter 컨테이너=container 컴파일=compile 컴파일러=compiler
컴포넌트=component 컴퓨터=computer 코드=code 코드리뷰=review 코틀린=kotlin 콘솔=console
쿠버네티스=kubernetes 쿠키=cookie 쿼리=query 크래시=crash 크론=cron 클라우드=cloud 클라이언트=client
클래스=class 클러스터=cluster 클론=clone 키보드=keyboard 키스토어=keystore 타임스탬프=timestamp
타임아웃=timeout 타입스크립트=typescript 태그=tag 태스크=task 터미널=terminal 테라폼=terraform 테스트=test
테이블=table 텍스처=texture 텍스트=text 템플릿=template 토글=toggle 토큰=token 튜토리얼=tutorial
트래픽=traffic 트랜잭션=transaction 트리거=trigger 티켓=ticket 파서=parser 파싱=parsing 파이썬=python
파이토치=pytorch 파이프라인=pipeline 파일=file 파티션=partition 판다스=pandas 패치=patch 패키지=package
패킷=packet 패턴=pattern 펌웨어=firmware 페이지=page 포맷=format 포스트그레스=postgres 포트=port 폴더=folder
푸시=push 프레임=frame 프레임워크=framework 프로덕션=production 프로메테우스=prometheus 프로젝트=project
프로토콜=protocol 프로파일러=profiler 프로필=profile 프록시=proxy 프론트엔드=frontend 프롬프트=prompt
플래그=flag 플랫폼=platform 플러그인=plugin 플러터=flutter 필드=field 필터=filter 하드웨어=hardware
핫픽스=hotfix 해시=hash 핸들러=handler 호스트=host
"""

_JAPANESE = """
アイコン=icon アカウント=account アクセス=access アダプタ=adapter アップグレード=upgrade アップデート=update
アップロード=upload アドレス=address アニメーション=animation アプリ=app アラート=alert
アルゴリズム=algorithm アンシブル=ansible アンドロイド=android アーカイブ=archive
アーキテクチャ=architecture イベント=event イメージ=image インスタンス=instance インストール=install
インターフェース=interface インデックス=index インフラ=infrastructure インポート=import ウィンドウズ=windows
ウェブフック=webhook エクセル=excel エディタ=editor エミュレータ=emulator エラー=error エンジン=engine
エンドポイント=endpoint エージェント=agent オフライン=offline オプション=option オラクル=oracle
オンボーディング=onboarding オンライン=online オーバーフロー=overflow カタログ=catalog カフカ=kafka
カメラ=camera カラム=column カレンダー=calendar カーネル=kernel キャッシュ=cache キャラクター=character
キュー=queue キー=key キーボード=keyboard ギットハブ=github クエリ=query クッキー=cookie クライアント=client
クラウド=cloud クラス=class クラスタ=cluster クラスター=cluster クラッシュ=crash クローン=clone
クーバネティス=kubernetes グラフ=graph グラファナ=grafana グループ=group ゲートウェイ=gateway ゲーム=game
コトリン=kotlin コネクション=connection コマンド=command コミット=commit コメント=comment コンソール=console
コンテナ=container コンパイラ=compiler コンパイル=compile コンポーネント=component コード=code
サンドボックス=sandbox サンプル=sample サーバ=server サーバー=server サービス=service シェル=shell
シェーダー=shader システム=system シミュレータ=simulator シャード=shard シリアル=serial ジェンキンス=jenkins
ジャバ=java スウィフト=swift スキーマ=schema スクリプト=script スクリーンショット=screenshot スタック=stack
ステージング=staging ストリーム=stream ストレージ=storage スナップショット=snapshot スパーク=spark
スプリント=sprint スラック=slack スレッド=thread セグメント=segment セッション=session センサー=sensor
ソケット=socket ソフトウェア=software ソース=source タイムアウト=timeout タイムスタンプ=timestamp タグ=tag
タスク=task ターミナル=terminal ダウンロード=download ダッシュボード=dashboard チェックポイント=checkpoint
チケット=ticket チャンネル=channel チュートリアル=tutorial ツール=tool テキスト=text テクスチャ=texture
テスト=test テラフォーム=terraform テンプレート=template テーブル=table ディスク=disk ディレクトリ=directory
デザイン=design デッドロック=deadlock デバイス=device デバッガ=debugger デバッグ=debug デプロイ=deploy
データ=data データベース=database トラフィック=traffic トランザクション=transaction トリガー=trigger
トークン=token ドキュメント=document ドッカー=docker ドメイン=domain ドライバ=driver ネットワーク=network
ノード=node ハッシュ=hash ハンドラ=handler ハードウェア=hardware バイト=byte バイナリ=binary バグ=bug
バックアップ=backup バックエンド=backend バックグラウンド=background バッチ=batch バッテリー=battery
バッファ=buffer バンドル=bundle バージョン=version パイソン=python パイプライン=pipeline パケット=packet
パスワード=password パターン=pattern パッケージ=package パッチ=patch パラメータ=parameter パーサー=parser
パーティション=partition ピン=pin ファイル=file ファームウェア=firmware フィルタ=filter フィールド=field
フォルダ=folder フォーマット=format フォーム=form フック=hook フラグ=flag フラッシュ=flash フレーム=frame
フレームワーク=framework フロントエンド=frontend ブラウザ=browser ブランチ=branch ブロック=block
ブートローダー=bootloader プッシュ=push プラグイン=plugin プラットフォーム=platform プロキシ=proxy
プログラム=program プロジェクト=project プロセス=process プロダクション=production プロトコル=protocol
プロファイラ=profiler プロフィール=profile プロンプト=prompt ベンチマーク=benchmark ページ=page ホスト=host
ボタン=button ポストグレス=postgres ポリシー=policy ポート=port マイグレーション=migration マクロ=macro
マージ=merge ミドルウェア=middleware メソッド=method メタデータ=metadata メッセージ=message
メトリクス=metric メモリ=memory メモリー=memory メール=mail モジュール=module モデル=model
モニタリング=monitoring モバイル=mobile モード=mode ユニティ=unity ユーザ=user ユーザー=user
ライセンス=license ライブラリ=library ラベル=label ランキング=ranking リアクト=react リスト=list
リソース=resource リダイレクト=redirect リナックス=linux リファクタリング=refactoring リポジトリ=repository
リリース=release リンク=link リージョン=region ルビー=ruby ルーター=router ループ=loop ルール=rule
レイアウト=layout レイテンシ=latency レジストリ=registry レビュー=review ログ=log ログアウト=logout
ログイン=login ローカル=local ロールバック=rollback ワーカー=worker ワークフロー=workflow
"""

_ENGLISH: Final = dict(pair.split("=") for pair in f"{_KOREAN} {_JAPANESE}".split())
_LONGEST: Final = max(map(len, _ENGLISH))


def english_words(word: str) -> list[str]:
    """The English words that ``word`` is made of; none unless all of it is.

    Katakana words are written together, and Korean ones often: ``ゲームサーバー`` is ``game`` and ``server``.
    """
    words: list[str] = []
    place = 0
    while place < len(word):
        for end in range(min(len(word), place + _LONGEST), place, -1):
            if (known := _ENGLISH.get(word[place:end])) is not None:
                words.append(known)
                place = end
                break
        else:
            return []
    return words
